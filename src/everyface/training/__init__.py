"""What is trained once and shipped: each file is a command that anyone can rerun."""
