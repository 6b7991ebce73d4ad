"""Arms of turning joints: where they are, how to reach a target, how to follow a path."""
