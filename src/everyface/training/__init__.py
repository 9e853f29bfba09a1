"""The training room: commands that make the weights which the package ships."""
