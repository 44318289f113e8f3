public import Foundation
public import KVStore
import Synchronization

/// A device of a `SimulatedCloud`: a name for it, which may be copied freely.
///
/// ```swift
/// let phone = try cloud.device("phone")
/// phone.isOffline = true
/// phone.store.set("dark", forKey: "theme")
/// ```
public struct CloudDevice: Sendable {
    /// How a device is made.
    public struct Options: Sendable {
        /// The account that it has joined; nil for none.
        public var account: String? = SimulatedCloud.defaultAccount
        /// The store's identifier, which all devices that share values have in common.
        public var storeName = StoreConfiguration.defaultStoreName
        public var limits = StoreLimits()
        /// Whether it keeps a stream open. A device without one hears of changes when it writes or is asked to
        /// synchronize.
        public var isLive = true
        /// What its clock is ahead of the true time; negative for behind.
        public var clockError = Duration.zero
        /// Keys that one notification names at most.
        public var notificationKeyCount = 50

        public init() {}

        /// The default with some changes.
        ///
        /// ```swift
        /// let visitor = try cloud.device("visitor", .with { $0.account = nil })
        /// ```
        public static func with(_ change: (inout Options) -> Void) -> Options {
            var options = Options()
            change(&options)
            return options
        }
    }

    /// How a process ends.
    public enum End: Sendable, Equatable, CaseIterable {
        /// In order: everything is on disk.
        case quit
        /// At once. What was written survives; what it had not told is told again or lost with it.
        case kill
        /// The whole device goes off. What was not synced to disk, at most the last 100 ms, may be gone.
        case powerFailure
    }

    let cloud: SimulatedCloud
    let machine: Machine

    static let appProcess = "app"

    public var name: String { machine.name }

    /// The app's store: the real thing. Another object after `restart` and `reinstall`.
    public var store: UbiquitousKeyValueStore { app.store }

    /// What the app's store has posted, oldest first; complete after `advance` and `settle`.
    public var notifications: [CloudNotification] { app.notifications }

    private var app: CloudProcess { CloudProcess(program: machine.programs[0], cloud: cloud) }

    /// Another process that has the same replica open, such as an extension or a widget; made at the first call.
    ///
    /// ```swift
    /// let widget = try phone.process("widget")
    /// phone.store.set(3, forKey: "unread")
    /// try await cloud.settle()
    /// #expect(widget.store.longLong(forKey: "unread") == 3)
    /// ```
    public func process(_ name: String) throws(StoreError) -> CloudProcess {
        try machine.opening.withLock { _ throws(StoreError) in
            if let program = machine.programs.first(where: { $0.name == name }) {
                return CloudProcess(program: program, cloud: cloud)
            }
            let program = Program(name: name, machine: machine)
            try cloud.start(
                program, with: machine.configuration(account: machine.state.withLock(\.account)))
            machine.state.withLock { $0.programs.append(program) }
            return CloudProcess(program: program, cloud: cloud)
        }
    }

    // MARK: - Clock

    /// What the device's clock shows.
    public var now: Date { VirtualClock.date(machine.moment.wall) }

    /// What its clock is ahead of the true time; negative for behind.
    public var clockError: Duration {
        get { .milliseconds(machine.state.withLock { $0.clockError }) }
        nonmutating set { machine.state.withLock { $0.clockError = newValue.milliseconds } }
    }

    // MARK: - Account

    /// The account that the device has joined; nil for none.
    public var account: String? { machine.state.withLock { $0.account } }

    /// Signs in, out, or over to another account: every process of the device shows the account's own values
    /// and posts reason 3 for the keys that look different. Values are not mixed between accounts; those that were
    /// set without an account come along into the first one.
    ///
    /// ```swift
    /// try phone.changeAccount(to: "family")
    /// try await cloud.settle()
    /// #expect(phone.notifications.last?.reason == .accountChange)
    /// ```
    public func changeAccount(to account: String?) throws(StoreError) {
        cloud.note("\(name) goes to \(account.map { "account \($0)" } ?? "no account")")
        machine.state.withLock { $0.account = account }
        for program in machine.programs {
            try program.run?.store.changeAccount(to: configuration(forAccount: account))
        }
    }

    /// What to hand to `UbiquitousKeyValueStore.changeAccount(to:)` in code that calls it itself.
    public func configuration(forAccount account: String?) -> StoreConfiguration {
        machine.configuration(account: account)
    }

    // MARK: - Ends and beginnings

    /// Ends the app and starts it again on the replica that it left. `store` is another object afterwards. A
    /// power failure ends and restarts the device's other processes too.
    public func restart(after end: End = .quit) throws(StoreError) {
        try cloud.restart(end == .powerFailure ? machine.programs : [app.program], after: end)
    }

    /// Deletes the app with everything that it has on the device, in all accounts, and installs it anew: a fresh
    /// replica with another id, which has yet to download the cloud.
    public func reinstall() throws(StoreError) {
        cloud.note("\(name) installs anew")
        let programs = machine.programs
        for program in programs { program.end(isOrderly: true) }
        machine.state.withLock { $0.directories = [:] }
        for program in programs {
            try cloud.start(program, with: configuration(forAccount: account))
        }
    }
}
