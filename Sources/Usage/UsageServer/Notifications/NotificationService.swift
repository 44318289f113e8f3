import Essentials
import KVStoreEssentials
package import KVStoreServer
import KVStoreWire
import LocalFiles
package import Logging
package import OutgoingHTTP
import Synchronization

/// Sends alerts to the browsers that have subscribed. An account without subscriptions costs nothing. Safe from any
/// thread.
package final class NotificationService: Sendable {
    let files: NotificationFile
    let logger: Logger
    let clock: NotificationClock
    private let contact: String
    private let http: HTTPDelivery
    private let changes: AsyncStream<Void>
    private let change: AsyncStream<Void>.Continuation
    private let ended = Mutex<[String]>([])

    /// - Parameters:
    ///   - contact: a `mailto:` or `https:` URL of who runs the daemon, for push services.
    ///   - http: names the push services that are on this machine or in a private network, if there are any.
    package init(
        dataDirectory: String, contact: String, http: HTTPDelivery, logger: Logger, clock: NotificationClock = .system()
    ) {
        files = NotificationFile(dataDirectory: dataDirectory)
        self.contact = contact
        self.http = http
        self.logger = logger
        self.clock = clock
        (changes, change) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    }

    /// Seconds until subscriptions that could not be read are read again; each attempt logs why.
    static let retry = 60.0

    private struct Running {
        var task: Task<Void, Never>
        var inbox: AsyncStream<Void>.Continuation
    }

    /// Follows the accounts that have subscriptions, until the task is cancelled. Call it once.
    package func run(on server: StoreServer) async {
        server.observeDevices { [change] in change.yield() }
        var running: [String: Running] = [:]
        var timer: Task<Void, Never>?
        // Those that have lost their last subscription meanwhile have to say so.
        for account in report({ () throws(FileError) in try files.accountsWithState }) ?? [] {
            running[account] = start(account, on: server)
        }
        change.yield()
        for await _ in changes {
            for account in ended.withLock({ ended in
                defer { ended = [] }
                return ended
            }) {
                running[account] = nil
            }
            let subscribed = await prune(on: server)
            timer?.cancel()
            timer = subscribed == nil ? Task { await yieldLater() } : nil
            for account in (subscribed ?? [:]).keys where running[account] == nil {
                running[account] = start(account, on: server)
            }
            // Those without subscriptions end by themselves.
            for account in running.values { account.inbox.yield() }
        }
        timer?.cancel()
        for account in running.values { account.task.cancel() }
        for account in running.values { await account.task.value }
    }

    private func yieldLater() async {
        guard (try? await clock.sleep(Self.retry)) != nil else { return }  // Cancelled.
        change.yield()
    }

    private func start(_ account: String, on server: StoreServer) -> Running {
        let (inputs, inbox) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let task = Task(priority: .utility) {
            var alerts = AccountAlerts(account, server: server, service: self)
            await alerts.run(inputs, inbox)
            ended.withLock { $0.append(account) }
            change.yield()
        }
        return Running(task: task, inbox: inbox)
    }

    // MARK: - Subscriptions

    /// Removes what belongs to no device; returns the subscriptions by account, nil if they cannot be read now.
    private func prune(on server: StoreServer) async -> [String: [PushSubscription]]? {
        guard let accounts = report({ () throws(FileError) in try files.table.accounts }),
            let devices = await devices(of: accounts, on: server)
        else { return nil }
        return report { () throws(FileError) in
            try files.change { table in
                table.prune(keeping: devices, of: accounts)
                return table.subscriptions(of: devices)
            }
        }
    }

    /// Nil if they cannot be read now.
    func subscriptions(of account: String, on server: StoreServer) async -> [PushSubscription]? {
        guard let devices = await devices(of: [account], on: server) else { return nil }
        return report { () throws(FileError) in try files.table.subscriptions(of: devices)[account] ?? [] }
    }

    /// Nil if they cannot be read now.
    func devices(of accounts: Set<String>, on server: StoreServer) async -> [Device]? {
        do throws(Problem) { return try await server.devices(ofAccounts: accounts) } catch {
            logger.warning("notifications: \(error.detail)")
            return nil
        }
    }

    func settings(of account: String) -> NotificationSettings {
        report { () throws(FileError) in try files.table.settings(of: account) } ?? NotificationSettings()
    }

    /// Changes who is sent what, and lets the change have its effect.
    func changeTable<Value: Sendable>(_ body: (inout NotificationTable) -> Value) throws(FileError) -> Value {
        defer { change.yield() }
        return try files.change(body)
    }

    // MARK: - Sending

    /// Throws if no message may ever go to the address.
    func check(_ endpoint: HTTPAddress) async throws(DeliveryError) { try await http.check(endpoint) }

    /// Sends to all at the same time, and removes the subscriptions that no longer exist.
    func send(
        _ message: PushMessage, to subscriptions: [PushSubscription], repeats: Bool = true
    ) async -> [PushSender.Outcome] {
        guard
            let key = report({ () throws(FileError) in try files.key })
        else { return [.failed(DeliveryError("the daemon has no key"))] }
        let sender = PushSender(key: key, contact: contact, http: http)
        let now = clock.date()
        var gone: Set<String> = []
        var outcomes: [PushSender.Outcome] = []
        await withTaskGroup(of: (HTTPAddress, PushSender.Outcome).self) { group in
            for subscription in subscriptions {
                group.addTask {
                    let outcome = await sender.send(message, to: subscription, now: now, repeats: repeats)
                    return (subscription.endpoint, outcome)
                }
            }
            for await (endpoint, outcome) in group {
                outcomes.append(outcome)
                switch outcome {
                case .accepted: break
                case .gone: gone.insert(endpoint.url)
                case .failed(let error):
                    logger.warning("notification not sent: \(error)")
                    guard http.isNamed(endpoint) else { break }
                    // What answers in a private network, and what does not, is not for a device.
                    outcomes[outcomes.endIndex - 1] = .failed(
                        DeliveryError("\(endpoint.host) has not accepted the message; the daemon's log says why"))
                }
            }
        }
        if !gone.isEmpty {
            let endpoints = gone
            logger.info("\(gone.count) subscriptions to notifications have ended")
            report { () throws(FileError) in try changeTable { $0.remove(endpoints) } }
        }
        return outcomes
    }

    /// Logs a failure, which changes nothing here; nil then.
    @discardableResult
    func report<Value>(_ body: () throws(FileError) -> Value) -> Value? {
        do throws(FileError) { return try body() } catch {
            logger.error("notifications: \(error)")
            return nil
        }
    }
}

extension Device {
    /// Whether its notifications may say what the usage of the account is.
    var mayReadUsage: Bool { scopes.contains(.read) && maySee(store: StoreConfiguration.defaultStoreName) }
}

/// Wall time, uptime and sleeping; tests inject their own.
package struct NotificationClock: Sendable {
    var date: @Sendable () -> Date
    /// Seconds on a clock that never steps.
    var uptime: @Sendable () -> Double
    /// Seconds; throws when the task is cancelled.
    var sleep: @Sendable (Double) async throws -> Void

    /// - Parameter speed: how many times as fast uptime passes, for tests of what takes minutes.
    static func system(speed: Double = 1) -> NotificationClock {
        let clock = ContinuousClock()
        let start = clock.now
        return NotificationClock(
            date: { Date() }, uptime: { (clock.now - start) / .seconds(1) * speed },
            sleep: { try await clock.sleep(for: .seconds($0 / speed)) })
    }
}
