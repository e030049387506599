package connect

import (
	"os"

	"golang.org/x/sys/unix"
)

// unread is how many bytes of a pipe nobody has read yet. What cannot be asked
// counts as read.
func unread(pipe *os.File) (bytes int) {
	raw, err := pipe.SyscallConn()
	if err != nil {
		return 0
	}
	_ = raw.Control(func(fd uintptr) {
		if bytes, err = unix.IoctlGetInt(int(fd), unix.TIOCINQ); err != nil {
			bytes = 0
		}
	})
	return bytes
}
