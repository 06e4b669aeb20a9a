"""One reader per format: bytes -> `Document`. `readers` is the list of them."""
