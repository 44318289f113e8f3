package import Essentials

/// What a hook answers, in the words of the tool.
///
/// Places: as `GateCall`. Codex has no dialogue that a hook can open and does not end a turn from `PreToolUse`: there it
/// refuses the call, and the model ends the turn.
package struct GateReply: Sendable, Equatable, Encodable {
    private struct Specific: Equatable, Encodable {
        var hookEventName: String
        var additionalContext: String?
        var permissionDecision: String?
        var permissionDecisionReason: String?
    }

    private var `continue`: Bool?
    private var stopReason: String?
    private var systemMessage: String?
    private var decision: String?
    private var reason: String?
    private var hookSpecificOutput: Specific?

    /// Nil to allow without a word.
    ///
    /// - Parameter isNew: whether the session has not been told this yet; stops are said each time.
    package init?(_ decided: GateDecision, to call: GateCall, isNew: Bool, now: Date) {
        guard let action = decided.action else { return nil }
        let (person, model) = (decided.sentenceForPerson(now: now), decided.sentenceForModel(now: now))
        var specific = Specific(hookEventName: call.event.rawValue)
        switch (action, call.event) {
        case (.stop, .tool):
            specific.permissionDecision = "deny"
            specific.permissionDecisionReason = model
            hookSpecificOutput = specific
            if call.tool == .claude {
                (`continue`, stopReason) = (false, person)
            } else {
                systemMessage = person
            }
        case (.stop, .prompt): (decision, reason) = ("block", person)
        case (.stop, .end), (.stop, .subagentEnd): (`continue`, stopReason) = (false, person)
        case (.stop, .start), (.pause, .start):
            // It cannot be refused, and the first prompt will be.
            guard isNew else { return nil }
            systemMessage = person
        case (.ask, .tool) where call.tool == .claude:
            guard isNew else { return nil }
            specific.permissionDecision = "ask"
            specific.permissionDecisionReason = person
            hookSpecificOutput = specific
        case (.tell, .start), (.tell, .prompt), (.tell, .tool), (.ask, .start), (.ask, .prompt), (.ask, .tool):
            guard isNew else { return nil }
            specific.additionalContext = model
            hookSpecificOutput = specific
        case (.tell, .end), (.tell, .subagentEnd), (.ask, .end), (.ask, .subagentEnd), (.pause, _): return nil
        }
    }

    /// One line.
    package var data: Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return encoder.data(of: self) + Data("\n".utf8)
    }
}
