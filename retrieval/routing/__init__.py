"""What the router is made of: cues by language, the plan of a question, optional classifiers."""
