// Follows /status/events and swaps what changed, so that what is open, selected
// or focused elsewhere stays as it is.
'use strict';

const connection = document.getElementById('connection');
let ahead = 0; // how far the server's clock is ahead of this one, in ms
let build;

// Relative times are said as moment.go says them.
function span(ms) {
  const s = Math.floor(ms / 1000);
  if (s < 60) return `${Math.max(1, s)} s`;
  if (s < 3600) return `${Math.floor(s / 60)} min`;
  if (s < 48 * 3600) return `${Math.floor(s / 3600)} h`;
  return `${Math.floor(s / 86400)} days`;
}

function relative(at, now) {
  if (at > now) return `in ${span(at - now)}`;
  return now - at >= 60000 ? `${span(now - at)} ago` : 'just now';
}

function lasting(at, now) {
  return now - at >= 60000 ? `for ${span(now - at)}` : 'for less than a minute';
}

function say(element, text) {
  if (element && element.textContent !== text) element.textContent = text;
}

function tick() {
  for (const time of document.querySelectorAll('time:has(.relative)')) {
    const words = time.classList.contains('lasting') ? lasting : relative;
    say(time.querySelector('.relative'), words(Date.parse(time.dateTime), Date.now() + ahead));
  }
}

// same leaves aside what only the clock changes.
function same(a, b) {
  const [x, y] = [a, b].map((element) => {
    const copy = element.cloneNode(true);
    for (const relative of copy.querySelectorAll('.relative, button')) relative.textContent = '';
    for (const details of copy.querySelectorAll('details')) details.open = false;
    return copy;
  });
  return x.isEqualNode(y);
}

// replace keeps open what was open, and the focus where it was.
function replace(old, fresh) {
  for (const details of old.querySelectorAll('details[open]')) {
    const again = fresh.querySelector('#' + CSS.escape(details.id));
    if (again) again.open = true;
  }
  const focusable = 'a, summary, button, pre';
  const focus = [...old.querySelectorAll(focusable)].indexOf(document.activeElement);
  old.replaceWith(fresh);
  fresh.querySelectorAll(focusable)[focus]?.focus({preventScroll: true});
}

function swapBackends(list, fresh) {
  const wanted = [...fresh.children];
  for (const article of [...list.children]) {
    const again = wanted.find((one) => one.id === article.id);
    if (!again) article.remove();
    else if (!same(article, again)) replace(article, again);
  }
  wanted.forEach((one, i) => {
    const article = document.getElementById(one.id) ?? one;
    if (list.children[i] !== article) list.insertBefore(article, list.children[i] ?? null);
  });
}

function swap(html) {
  const fresh = new DOMParser().parseFromString(html, 'text/html');
  const about = fresh.querySelector('[data-build]');
  if (build && about.dataset.build !== build) return location.reload(); // this script is of another version
  build = about.dataset.build;
  ahead = Date.parse(about.dataset.now) - Date.now();
  const [summary, next] = ['summary', 'summary'].map((id, i) => (i ? fresh : document).getElementById(id));
  if (!same(summary, next)) summary.replaceChildren(...next.childNodes); // the element itself is what announces
  swapBackends(document.getElementById('backends'), fresh.getElementById('backends'));
  document.getElementById('facts').replaceWith(fresh.getElementById('facts'));
  document.title = `${document.querySelector('h1').textContent} · vmcp`;
  tick();
}

function connected(yes) {
  connection.classList.toggle('lost', !yes);
  say(connection, yes ? 'Live' : 'Connection lost: this is what was known last. Trying again…');
}

function follow() {
  const events = new EventSource('status/events');
  events.onmessage = (event) => { swap(event.data); connected(true); };
  events.onerror = () => {
    connected(false);
    if (events.readyState === EventSource.CLOSED) setTimeout(follow, 5000); // it gives up on an answer other than 200
  };
}

async function copy(button) {
  const text = button.parentElement.querySelector('pre').textContent;
  try {
    await navigator.clipboard.writeText(text);
    say(button, 'Copied');
  } catch {
    getSelection().selectAllChildren(button.parentElement.querySelector('pre'));
    say(button, 'Selected');
  }
  setTimeout(() => say(button, 'Copy'), 2000);
}

document.documentElement.classList.add('scripted');
document.addEventListener('click', (event) => {
  const button = event.target.closest('.copyable button');
  if (button) copy(button);
});
build = document.querySelector('[data-build]').dataset.build;
setInterval(tick, 1000);
follow();
