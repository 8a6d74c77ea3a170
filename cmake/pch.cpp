// Anchors the precompiled header; has no code of its own.
