"""What is measured. Facts hold no threshold, no verdict and no wall time."""
