package gateway

// kinds are what a server may have.
type kinds struct{ tools, prompts, resources, subscriptions, completions bool }

func (k kinds) or(other kinds) kinds {
	return kinds{
		k.tools || other.tools, k.prompts || other.prompts, k.resources || other.resources,
		k.subscriptions || other.subscriptions, k.completions || other.completions,
	}
}
