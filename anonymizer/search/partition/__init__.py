"""Records divided into classes: what these publish, cost and must satisfy, and kernels that change them."""
