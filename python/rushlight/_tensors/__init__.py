"""What tensors have beside numbers: copies, orders in memory, former classes, memory that others see."""
