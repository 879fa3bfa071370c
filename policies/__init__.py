"""The eviction policies, the parts they are composed of, and the reducers of tool results."""
