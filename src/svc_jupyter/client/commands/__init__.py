"""A command's known state, its end, its log and its result, for both clients."""
