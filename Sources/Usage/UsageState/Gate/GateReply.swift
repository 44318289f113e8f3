package import Essentials

/// The output of a hook, in the form of the tool.
///
/// Codex and GitHub Copilot CLI do not end a turn from a hook before a call: there it is refused, and the model ends
/// the turn. Codex takes what it does not know for a failure, and lets the call pass.
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
    private var additionalContext: String?
    private var permissionDecision: String?
    private var permissionDecisionReason: String?
    private var hookSpecificOutput: Specific?

    /// Nil to allow without any output.
    ///
    /// - Parameter isNew: whether the session has not been notified of this yet; called only where that matters, as
    ///   each stop is reported.
    package init?(_ decided: GateDecision, to call: GateCall, isNew: () -> Bool, now: Date) {
        guard let action = decided.action else { return nil }
        let (user, model) = (decided.userMessage(now: now), decided.modelMessage(now: now))
        switch (action, call.event) {
        case (.stop, .tool): refuse(call, user, model)
        case (.stop, .prompt): (decision, reason) = (call.tool == .gemini ? "deny" : "block", user)
        case (.stop, .end), (.stop, .subagentEnd): (`continue`, stopReason) = (false, user)
        case (.stop, .start), (.pause, .start):
            // It cannot be refused, and the first prompt will be.
            guard [.claude, .codex, .qwen].contains(call.tool), isNew() else { return nil }
            systemMessage = user
        case (.ask, _) where [.claude, .qwen, .copilot].contains(call.tool):
            // The dialogue opens before a call, so that nothing is said before.
            guard call.event == .tool, isNew() else { return nil }
            answer(call, "ask", user)
        case (.tell, .start), (.tell, .prompt), (.tell, .tool), (.ask, .start), (.ask, .prompt), (.ask, .tool):
            // The others have no place for it before a call.
            guard call.event != .tool || [.claude, .codex].contains(call.tool), isNew() else { return nil }
            if call.tool == .copilot {
                additionalContext = model
            } else {
                hookSpecificOutput = Specific(hookEventName: call.eventName, additionalContext: model)
            }
        case (.tell, .end), (.tell, .subagentEnd), (.ask, .end), (.ask, .subagentEnd), (.pause, _): return nil
        }
    }

    private mutating func refuse(_ call: GateCall, _ user: String, _ model: String) {
        if call.tool != .gemini { answer(call, "deny", model) }
        switch call.tool {
        case .claude, .gemini, .qwen: (`continue`, stopReason) = (false, user)
        case .codex: systemMessage = user
        case .copilot: break
        }
    }

    private mutating func answer(_ call: GateCall, _ decision: String, _ reason: String) {
        guard call.tool != .copilot else {
            (permissionDecision, permissionDecisionReason) = (decision, reason)
            return
        }
        hookSpecificOutput = Specific(
            hookEventName: call.eventName, permissionDecision: decision, permissionDecisionReason: reason)
    }

    /// One line.
    package var data: Data {
        JSONEncoder.sorted().data(of: self) + Data("\n".utf8)
    }
}
