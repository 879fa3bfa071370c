"""What a policy says of itself: the figures it starts from, and the rules it breaks."""

from policies.registry import make, options


def figures(name):
    """The defaults of its options, but for the text that it leaves and the switches."""
    return {option.name: option.default for option in options(name)}


def breaks(name):
    return set(make(name).declares)
