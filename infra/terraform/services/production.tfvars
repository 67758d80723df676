# Sizes are those of sizes.tf. Settings of docs/settings.md, such as MODEL_AGENT, stand here.
settings = {}
