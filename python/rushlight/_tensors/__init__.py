"""What tensors have beside their numbers: copies, orders in memory, classes of former times, memory that others see."""
