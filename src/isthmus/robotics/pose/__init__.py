"""The pose of a person in a picture, and the kernel of an arm's postures."""
