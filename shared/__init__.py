"""What the four functions share: domain, ports, data access, prompts and adapters."""
