"""The heart: which words belong on the list. Candidates → features → relevance; a policy chooses under the budget."""
