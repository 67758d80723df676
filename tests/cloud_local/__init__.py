"""The cloud on one machine: every entry point a process in the cloud world, on emulators and local servers."""
