public import Foundation
public import KVStore
import Synchronization

/// A device of a `SimulatedCloud`. Copies refer to the same device.
///
/// ```swift
/// let phone = try cloud.device("phone")
/// phone.isOffline = true
/// phone.store.set("dark", forKey: "theme")
/// ```
public struct CloudDevice: Sendable {
    /// The options of a new device.
    public struct Options: Sendable {
        /// The account that it joins; nil for none.
        public var account: String? = SimulatedCloud.defaultAccount
        /// The store's identifier, the same for all devices that share values.
        public var storeName = StoreConfiguration.defaultStoreName
        /// The limits of the device's own store.
        public var limits = StoreLimits()
        /// Whether it keeps a stream open. A device without one receives changes when it writes or synchronizes.
        public var isLive = true
        /// How far its clock is ahead of the true time; negative if it is behind.
        public var clockError = Duration.zero
        /// The maximum number of keys per notification.
        public var notificationKeyCount = 50

        /// Whether the notification of an account change names the keys whose values differ. Apple documents only that
        /// it can.
        public var accountChangeNamesKeys = true

        /// A live device of the default account with an exact clock.
        public init() {}

        /// The default options with changes.
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
        /// An orderly exit: everything is durable.
        case quit
        /// Killed. What was written survives; changes that were not notified yet are lost or notified again.
        case kill
        /// The device loses power. What was not synced, at most the last 100 ms, may be lost.
        case powerFailure
    }

    let cloud: SimulatedCloud
    let machine: Machine

    static let appProcess = "app"

    /// The name it was created with, unique in its cloud.
    public var name: String { machine.name }

    /// The app's real store. A new object after `restart` and `reinstall`.
    public var store: UbiquitousKeyValueStore { app.store }

    /// Where the device's stores post, as the only ones. An observer of this center hears no other device, whatever its
    /// `object`.
    ///
    /// They post on `NotificationCenter.default` as well. But once `SimulatedCloud.withDefault(_:_:)` was used, only
    /// the devices that it was used with do, and on behalf of `UbiquitousKeyValueStore.default`.
    public var notificationCenter: NotificationCenter { machine.center }

    /// The notifications of the app's store, oldest first; complete after `advance` and `settle`.
    public var notifications: [CloudNotification] { app.notifications }

    private var app: CloudProcess { CloudProcess(program: machine.programs[0], cloud: cloud) }

    /// Another process with the same replica open, such as an extension or a widget. The first call creates it.
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
            try cloud.start(program, with: configuration(forAccount: account))
            machine.state.withLock { $0.programs.append(program) }
            return CloudProcess(program: program, cloud: cloud)
        }
    }

    // MARK: - Clock

    /// The time of the device's clock.
    public var now: Date { VirtualClock.date(machine.instant.wall) }

    /// How far its clock is ahead of the true time; negative if it is behind.
    public var clockError: Duration {
        get { .milliseconds(machine.state.withLock { $0.clockError }) }
        nonmutating set {
            let error = newValue.milliseconds
            machine.state.withLock { $0.clockError = error }
            cloud.record("clockError", of: name) { $0.milliseconds = error }
        }
    }

    // MARK: - Account

    /// The account that the device has joined; nil for none.
    public var account: String? { machine.state.withLock { $0.account } }

    /// Signs in, out, or over to another account: every process of the device shows the account's own values and posts
    /// reason 3, with the keys whose values differ if there are any. Accounts never share values; those set without an
    /// account are carried over into the first one.
    ///
    /// ```swift
    /// try phone.changeAccount(to: "family")
    /// try await cloud.settle()
    /// #expect(phone.notifications.last?.reason == .accountChange)
    /// ```
    public func changeAccount(to account: String?) throws(StoreError) {
        cloud.log("\(name) goes to \(account.map { "account \($0)" } ?? "no account")")
        machine.state.withLock { $0.account = account }
        for program in machine.programs {
            cloud.record("account", of: program.label) { $0.account = .some(account) }
        }
        for program in machine.programs {
            do throws(StoreError) {
                try program.run?.store.changeAccount(to: configuration(forAccount: account))
            } catch {
                // The code under test may have closed it.
                guard error.code == .closed else { throw error }
            }
        }
    }

    /// The argument for code that calls `UbiquitousKeyValueStore.changeAccount(to:)` itself, or opens a store or the
    /// default store with it: that is another process of this device, and uses nothing of the real disk.
    public func configuration(forAccount account: String?) -> StoreConfiguration {
        cloud.configuration(of: machine, account: account)
    }

    // MARK: - Ends and beginnings

    /// Ends the app and starts it again on its replica. `store` is a new object afterwards. A power failure restarts
    /// the device's other processes too.
    public func restart(after end: End = .quit) throws(StoreError) {
        try app.restart(after: end)
    }

    /// Deletes the app with its data of all accounts and installs it again: a fresh replica with a new id, before its
    /// first download.
    public func reinstall() throws(StoreError) {
        cloud.log("\(name) reinstalls")
        cloud.record("reinstalled", of: name)
        let programs = machine.programs
        for program in programs { program.end(isOrderly: true) }
        machine.state.withLock { $0.directories = [:] }
        for program in programs {
            try cloud.start(program, with: configuration(forAccount: account))
        }
    }
}
