"""Agent loops, one a module, each with the same model and the same tool, behind the same pipe."""
