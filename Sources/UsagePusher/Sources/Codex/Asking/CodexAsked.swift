import Essentials

/// What asking the Codex of one home has given, for `CodexSource`.
struct CodexAsked {
    let state: CodexAskState?
    /// Nil unless it is asked at present.
    let settings: AskSettings?
    /// That of the state.
    let path: String

    /// The readings of the last answer, which say whose they are.
    ///
    /// - Parameters:
    ///   - account: the login; nil when it is unknown.
    ///   - logins: of this home.
    func evidence(of account: CodexAccount?, logins: AccountCards, at now: Date) -> Evidence {
        var evidence = Evidence()
        guard let answer = state?.answer else { return evidence }
        let isOwn = account?.owns(answer)
        // Nobody knows which of two logins an answer without a name is about.
        if isOwn == nil, !logins.hasOneLogin(from: answer.askedAt, to: answer.answeredAt) { return evidence }
        for reading in answer.readings {
            var reading = reading.dated(at: now)
            if isOwn == false {
                reading.account = ([answer.address] + answer.workspaces).compactMap { $0 }.first
            } else if isOwn == true, account?.conflict(with: reading, at: now) != .plan {
                reading.account = account?.id
            }
            evidence.add(reading)
        }
        return evidence
    }

    /// The state in words; nil if it has never been asked and is not to be.
    ///
    /// - Parameters:
    ///   - report: of the answers about the present account.
    ///   - newest: the newest reading of this machine.
    func finding(_ report: CodexReport, newest: LimitReading?) -> SourceFinding? {
        guard state != nil || settings != nil else { return nil }
        let windows = report.mainWindows
        var details = windows.map { "\($0.kind.name) \($0.percentText) used" }
        if state?.answer != nil, report.evidence == Evidence() {
            details.append("the last answer is not about the account that is logged in")
        }
        details.append(state.map { "asked \($0.askedAt.formatted(.iso8601))" } ?? "not asked yet")
        if let state, let failure = state.failure {
            details.append(failure + (state.failureCount > 1 ? ", \(state.failureCount) times in a row" : ""))
        }
        if let settings {
            let times = [
                state?.askedAt.addingTimeInterval(
                    TimeInterval(settings.pause(afterFailures: state?.failureCount ?? 0))),
                newest?.observedAt.addingTimeInterval(TimeInterval(settings.whenOlder)),
            ].compactMap { $0 }
            let next = times.max().map { $0 > report.now ? $0.formatted(.iso8601) + " or later" : "soon" } ?? "soon"
            details.append("next by usage-push --watch: \(next)")
        } else {
            details.append("no longer asked")
        }
        return SourceFinding(
            path: path, title: "Codex itself", certainty: windows.isEmpty ? nil : .cachedExact,
            observedAt: windows.isEmpty ? nil : report.observedAt, detail: details.joined(separator: "; "))
    }
}
