"""What is said of devices and element types that are not there."""
