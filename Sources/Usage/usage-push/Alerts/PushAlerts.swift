import Commands
import Essentials
import KVStoreHTTP
import LocalFiles
import Synchronization
import TerminalText
import UsagePusher

/// Alerts beside the pushes of `usage-push --watch`.
struct PushAlerts: Sendable {
    let sink: StoreSink
    let deviceID: String
    let environment: StoreEnvironment
    let storeName: String
    let volume: Console.Volume

    private let pushes: AsyncStream<Void>
    private let pushed: AsyncStream<Void>.Continuation

    init(sink: StoreSink, deviceID: String, environment: StoreEnvironment, storeName: String, volume: Console.Volume) {
        self.sink = sink
        self.deviceID = deviceID
        self.environment = environment
        self.storeName = storeName
        self.volume = volume
        (pushes, pushed) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    /// Call it after each push; returns at once.
    func markPushed() { pushed.yield() }

    /// Warns until the task is cancelled, as long as alerts are configured.
    func run() async {
        let store = UserAlertStore(
            store: sink.store, listed: { [sink] in sink.listedDevices }, isRemoved: { [sink] in sink.isRemoved })
        let files = [PusherConfigurationFile().path, AlertSecretsFile().path]
        let settingsChanges = SystemFileWatcher().events(for: files.map { WatchedPath($0) })
        let (changes, change) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let storeChanges = store.changes
        let configuration = PushAlertsConfiguration()
        let loop = AlertLoop(
            store: store, storeName: environment.replicaDirectory(storeNamed: storeName, credentials: sink.credentials),
            deviceID: deviceID, file: AlertJournalFile(ReadingOptions.ownEnvironment),
            configuration: { configuration.read() },
            report: { report in
                switch report {
                case .note(let text):
                    if volume > .quiet { Console.note(VisibleText.escape(text)) }
                case .issue(let text): Console.report(text)
                }
            })
        await withTaskGroup(of: Void.self) { group in
            group.addTask(priority: .utility) { for await _ in pushes { change.yield() } }
            group.addTask(priority: .utility) { for await _ in storeChanges { change.yield() } }
            group.addTask(priority: .utility) { for await _ in settingsChanges { change.yield() } }
            await loop.run(changes)
            group.cancelAll()
        }
    }
}

/// Reads the settings when they may have changed. What is wrong with them is reported once.
private final class PushAlertsConfiguration: Sendable {
    private struct State {
        var statuses: [FileStatus?]?
        var current: AlertLoop.Configuration?
        var issue: String?
    }

    private let state = Mutex(State())

    func read() -> AlertLoop.Configuration? {
        let paths = [PusherConfigurationFile().path, AlertSecretsFile().path]
        let statuses = paths.map { try? FileStatus(path: $0) }  // What is wrong is reported where the file is read.
        return state.withLock { state in
            if state.statuses == statuses { return state.current }
            state.statuses = statuses
            do throws(FileError) {
                let settings = try PusherConfigurationFile().readAlerts()
                state.current =
                    settings.isConfigured
                    ? AlertLoop.Configuration(
                        settings: settings,
                        targets: AlertTargets(
                            settings, try AlertSecretsFile().read(),
                            variables: ProcessInfo.processInfo.environment)) : nil
                state.issue = nil
            } catch {
                if state.issue != error.description { Console.report(error.description) }
                state.issue = error.description
                state.current = nil
            }
            return state.current
        }
    }
}
