import Essentials
import KVStoreCore
import KVStoreEssentials
import KVStoreServer
import KVStoreWire
import LocalFiles
import Logging
import UsageState

/// Follows the default store of an account and sends what is due, as `AlertWatch` decides: the daemon is one more
/// machine that warns. Between two changes it sleeps until the time that `AlertWatch` names, as `AlertPace` paces it.
struct AccountAlerts {
    let account: String
    let server: StoreServer
    let service: NotificationService

    private var watch: AlertWatch
    private var saved: Data?
    /// The versions of what was looked at last.
    private var versions: [SequencedRecord.Version]?
    private var settings: NotificationSettings?
    private var devices: [Device]?
    /// In seconds of uptime.
    private var due: Double?
    /// Why the last notice was not written.
    private var writeFailure: String?

    /// Seconds until the store is tried again.
    private static let retry = 10.0
    /// Alerts that are sent at the same time, each to all subscriptions.
    private static let batchCount = 4

    init(_ account: String, server: StoreServer, service: NotificationService) {
        self.account = account
        self.server = server
        self.service = service
        watch = AlertWatch(deviceID: Self.deviceID(instance: server.instance))
    }

    /// Sorts before the ids of other machines, which begin with a digit or a letter: the daemon is there while anything
    /// is, so it delivers and the others need not.
    static func deviceID(instance: String) -> String { "-kvsd-" + instance }

    private var store: StoreID { StoreID(account: account, name: StoreConfiguration.defaultStoreName) }

    /// Returns when nobody in the account has a subscription, or the task is cancelled.
    ///
    /// - Parameters:
    ///   - inputs: an element when there may be something to do.
    ///   - inbox: gives `inputs` an element.
    mutating func run(_ inputs: AsyncStream<Void>, _ inbox: AsyncStream<Void>.Continuation) async {
        let observer = server.observe(store) { inbox.yield() }
        defer { observer.cancel() }
        restore()
        await AlertPace(sleep: service.clock.sleep).run(inputs, inbox) {
            if let subscriptions = await service.subscriptions(of: account, on: server) {
                if !subscriptions.isEmpty { return .look(after: await step()) }
                if await leave() { return .end }
            }
            return .look(after: NotificationService.retry)
        }
    }

    /// Sends what is due and returns the seconds until there may be more.
    private mutating func step() async -> Double? {
        let settings = service.settings(of: account)
        while !Task.isCancelled {
            guard let records = await read() else { return Self.retry }
            // Without a store there is nothing to say, and none is made for a notice.
            guard !records.isEmpty else { return nil }
            guard let devices = await service.devices(of: [account], on: server) else { return Self.retry }
            let versions = records.map(\.version)
            let uptime = service.clock.uptime()
            if versions == self.versions, settings == self.settings, devices == self.devices,
                due.map({ $0 > uptime }) ?? true
            {
                return due.map { $0 - uptime }
            }
            (self.versions, self.settings, self.devices) = (versions, settings, devices)
            let now = service.clock.date()
            var output = watch.step(
                AlertWatch.Input(
                    values: records.dataByKey, link: .online, now: now, zone: settings.zone, uptime: uptime,
                    devices: ListedDevices(
                        devices.map { DaemonDevice($0, lastSeen: nil, isConnected: false) },
                        listedAt: now)), settings.watch)
            save()
            if let notice = output.notice, await !write(notice) {
                watch.noticeFailed()
                output.wait = min(output.wait ?? Self.retry, Self.retry)
            }
            due = output.wait.map { uptime + $0 }
            if output.alerts.isEmpty { return output.wait }
            await deliver(output.alerts, settings)
            // Others are to know what was delivered, and what could not be is due again.
            due = uptime
        }
        return nil
    }

    /// Delivers the first alerts, of each window or device one. They go out at the same time, because a push service
    /// that hangs takes almost as long as other machines wait for the next notice.
    private mutating func deliver(_ alerts: [Alert], _ settings: NotificationSettings) async {
        var tags: Set<String> = []
        let batch = alerts.filter { tags.insert($0.tag).inserted }.prefix(Self.batchCount)
        let sender = self
        await withTaskGroup(of: (Alert, Bool).self) { group in
            for alert in batch {
                group.addTask { (alert, await sender.deliver(alert, settings)) }
            }
            for await (alert, succeeded) in group {
                watch.delivered(alert, succeeded: succeeded, uptime: service.clock.uptime())
                save()
            }
        }
    }

    /// Whether anybody has got it. What ended subscriptions did not get is left to other machines.
    private func deliver(_ alert: Alert, _ settings: NotificationSettings) async -> Bool {
        let payload = NotificationPayload(alert, now: service.clock.date(), zone: settings.zone)
        // A push service keeps it as long as its delivery is retried here.
        let message = payload.message(urgency: alert.urgency, secondsToLive: Int(AlertWatch.pendingAge))
        let subscriptions = await service.subscriptions(of: account, on: server) ?? []
        return await service.send(message, to: subscriptions).contains(.accepted)
    }

    /// Announces that the daemon no longer warns, and removes what is known of the account; returns false if the store
    /// cannot be read or written now.
    private mutating func leave() async -> Bool {
        guard let records = await read() else { return false }
        let present = AlertNotice.notices(in: records.dataByKey)[watch.deviceID]
        if let notice = watch.leave(present), await !write(notice) { return false }
        service.report { () throws(FileError) in try service.files.removeState(of: account) }
        return true
    }

    // MARK: - Files and the store

    private mutating func restore() {
        service.report { () throws(FileError) in
            guard let data = try service.files.state(of: account),
                // Nil for the state of another version: all begins anew.
                let kept = try? JSONDecoder().decode(AlertWatch.self, from: data),
                kept.deviceID == watch.deviceID
            else { return }
            (watch, saved) = (kept, data)
        }
    }

    private mutating func save() {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        // Percentages may be infinite; then the former state stays.
        guard let data = try? encoder.encode(watch), data != saved else { return }
        service.report { () throws(FileError) in
            try service.files.save(data, of: account)
            saved = data
        }
    }

    /// What alerts depend on; empty without a store, nil if that cannot be known now.
    private func read() async -> [SequencedRecord]? {
        do throws(Problem) {
            return try await server.values(of: store) { AlertWatch.Input.isKey($0.text) } ?? []
        } catch {
            return nil
        }
    }

    /// Whether it is durable. A reason that stays is logged once.
    private mutating func write(_ notice: AlertNotice) async -> Bool {
        let key = StoreKey(AlertNotice.storeKey(deviceID: watch.deviceID))
        do throws(Problem) {
            try await server.write(notice.data, forKey: key, of: store)
            writeFailure = nil
        } catch {
            if error.detail != writeFailure {
                service.logger.warning(
                    "cannot publish the alert notice: \(error.detail)", metadata: ["account": "\(account)"])
            }
            writeFailure = error.detail
        }
        return writeFailure == nil
    }
}
