import ClockZones
import Essentials
import LocalFiles
import UsagePusher
import UsageState

/// Follows a store and delivers what is due, as `AlertWatch` decides, until its task is cancelled.
///
/// Between two changes it sleeps until the time that `AlertWatch` names, at the pace of `AlertPace`; what it delivers
/// takes about a minute at most, so it neither holds up pushes nor takes the machine from them.
struct AlertLoop: Sendable {
    /// What is configured at present; nil for no alerts. What cannot be used is described.
    struct Configuration: Sendable {
        var settings: AlertSettings
        var targets: AlertTargets
    }

    /// A sentence for the user.
    enum Report: Sendable, Equatable {
        /// What happens as it should.
        case note(String)
        case issue(String)
    }

    private let store: any AlertStore
    private let storeName: String
    private let deviceID: String
    private let file: AlertJournalFile
    private let configuration: @Sendable () -> Configuration?
    private let report: @Sendable (Report) -> Void
    private let date: @Sendable () -> Date
    private let zone: ClockZone

    /// Seconds until a notice is written again.
    private static let retry = 10.0

    /// - Parameters:
    ///   - storeName: names account and store; what is remembered of another one is forgotten.
    init(
        store: any AlertStore, storeName: String, deviceID: String, file: AlertJournalFile, zone: ClockZone = .local,
        date: @escaping @Sendable () -> Date = { Date() }, configuration: @escaping @Sendable () -> Configuration?,
        report: @escaping @Sendable (Report) -> Void
    ) {
        self.store = store
        self.storeName = storeName
        self.deviceID = deviceID
        self.file = file
        self.zone = zone
        self.date = date
        self.configuration = configuration
        self.report = report
    }

    private struct State {
        var journal: AlertJournal
        let lock: FileLock
    }

    /// - Parameter changes: an element whenever the store or the configuration may have changed; the first look needs
    ///   none.
    func run(_ changes: AsyncStream<Void>) async {
        let clock = ContinuousClock()
        let start = clock.now
        let (inputs, inbox) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let following = Task(priority: .utility) {
            for await _ in changes { inbox.yield() }
        }
        defer { following.cancel() }
        var state: State?
        let pace = AlertPace { try await clock.sleep(for: .seconds($0)) }
        await pace.run(inputs, inbox) {
            guard let configuration = configuration() else {
                leave(&state)
                return .look(after: nil)
            }
            let isFirst = state == nil
            if state == nil { state = open() }
            // Another process warns, until it ends.
            if state == nil { return .look(after: AlertWatch.heartbeat) }
            let wait = await step(&state, configuration) { (clock.now - start) / .seconds(1) }
            if isFirst {
                let names = configuration.settings.targets.map(\.rawValue)
                report(.note("alerts go to " + names.joined(separator: ", ")))
            }
            return .look(after: wait)
        }
        leave(&state)
    }

    /// Delivers what is due and returns the seconds until there may be more.
    private func step(_ state: inout State?, _ configuration: Configuration, uptime: () -> Double) async -> Double? {
        while !Task.isCancelled, var current = state {
            defer { state = current }
            let input = store.input(at: date(), zone: zone, uptime: uptime())
            var output = current.journal.watch.step(input, configuration.settings.watch)
            save(current.journal)
            if let notice = output.notice, !write(notice) {
                current.journal.watch.noticeFailed()
                output.wait = min(output.wait ?? Self.retry, Self.retry)
            }
            guard let alert = output.alerts.first else { return output.wait }
            await deliver(alert, configuration, &current.journal, uptime: uptime)
            save(current.journal)
            // Others are to know of it before the next one is delivered, which may take a minute.
        }
        return nil
    }

    private func deliver(
        _ alert: Alert, _ configuration: Configuration, _ journal: inout AlertJournal, uptime: () -> Double
    ) async {
        let text = AlertText(alert, now: date(), zone: zone)
        let outcomes = await configuration.targets.deliver(alert, text)
        for outcome in outcomes {
            if let failure = outcome.failure {
                report(.issue("alert not delivered by \(outcome.target.rawValue): \(failure)"))
            }
        }
        let succeeded = outcomes.contains { $0.failure == nil }
        if succeeded { report(.note("alert: " + text.title)) }
        journal.add(AlertJournal.Entry(at: date(), title: text.title, message: text.message, outcomes: outcomes))
        journal.watch.delivered(alert, succeeded: succeeded, uptime: uptime())
    }

    /// Nil while another process of this machine warns.
    private func open() -> State? {
        do throws(FileError) {
            guard let lock = try file.lock() else { return nil }
            let kept = try file.read().flatMap {
                $0.store == storeName && $0.watch.deviceID == deviceID.lowercased() ? $0 : nil
            }
            return State(journal: kept ?? AlertJournal(store: storeName, deviceID: deviceID), lock: lock)
        } catch {
            report(.issue(error.description))
            return nil
        }
    }

    /// Announces that this machine no longer warns.
    private func leave(_ state: inout State?) {
        let present = store.notices[deviceID.lowercased()]
        guard present?.watches == true, var current = state ?? open() else {
            state = nil
            return
        }
        if let notice = current.journal.watch.leave(present) { _ = write(notice) }
        save(current.journal)
        state = nil
    }

    private func save(_ journal: AlertJournal) {
        do throws(FileError) { try file.write(journal) } catch { report(.issue(error.description)) }
    }

    /// Whether it was written.
    private func write(_ notice: AlertNotice) -> Bool {
        do {
            try store.write(notice, deviceID: deviceID)
            return true
        } catch {
            report(.issue("cannot publish the alert notice: \(error)"))
            return false
        }
    }
}
