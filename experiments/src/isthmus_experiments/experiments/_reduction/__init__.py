"""What the experiments on supervised reduction share: rival methods, protocol and report."""
