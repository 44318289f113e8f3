import Commands
import Dispatch
import Essentials
import LocalFiles
import SnapshotModels
import Synchronization
import TerminalText
import UsageState

/// What the usage-push of other machines prints, over SSH. Their last numbers are kept here, for a time at which one
/// cannot be reached. Nothing is left behind there.
struct RemoteUsage {
    let hosts: [String]
    private let directory = LocalDirectory(UserDirectories().state + "/ssh")

    static let hostLimit = 16
    private static let byteLimit = 1_048_576

    init(hosts: [String]) { self.hosts = hosts }

    /// Without a state directory there, it would leave one with its cache.
    private static let script = """
        PATH=$PATH:$HOME/.local/lib/ubiquity/bin:$HOME/.local/bin:/usr/local/bin
        command -v usage-push >/dev/null 2>&1 || exit 127
        if [ ! -d "${UBIQUITY_STATE_DIR:-${XDG_STATE_HOME:-$HOME/.local/state}/ubiquity}" ]; then
            UBIQUITY_STATE_DIR=$(mktemp -d) || exit 73
            export UBIQUITY_STATE_DIR
            trap 'rm -rf "$UBIQUITY_STATE_DIR"' EXIT
        fi
        usage-push --print

        """

    /// Asks all hosts at the same time. Blocks, about half a minute at most.
    ///
    /// - Throws: if there are no numbers of any.
    func data() throws -> UsageData {
        let values = Mutex<[String: Data]>([:])
        DispatchQueue.concurrentPerform(iterations: hosts.count) { index in
            guard let data = snapshot(of: hosts[index]) else { return }
            values.withLock { $0[SyncedUsageSnapshot.storeKey(deviceID: hosts[index])] = data }
        }
        let found = values.withLock { $0 }
        guard !found.isEmpty else {
            throw CommandFailure(.unavailable, "there are no numbers of \(hosts.joined(separator: ", "))")
        }
        return UsageData(link: .notJoined, values: found, now: Date())
    }

    /// Those of now, else the last ones.
    private func snapshot(of host: String) -> Data? {
        let outcome = RemoteHost(host).run(Self.script, seconds: 30)
        let data = Data(outcome.output.utf8)
        let file = LocalFile(directory.path + "/" + host.utf8.map { $0.hexadecimal(digits: 2) }.joined() + ".json")
        if !data.isEmpty, data.count <= Self.byteLimit, (try? SnapshotCodec.decode(data)) != nil {
            // They are shown even if they cannot be kept.
            try? directory.create()
            try? file.replace(with: data, durability: .cached)
            return data
        }
        let former = try? file.read(byteLimit: Self.byteLimit)?.data  // As without one.
        let reason =
            switch outcome.status {
            case 127: "usage-push is not there; ubq add \(host) copies it"
            case ExitStatus.noInput.rawValue: "no AI coding tool has written numbers there"
            default: outcome.reason
            }
        Console.report("\(host): \(reason)" + (former == nil ? "" : "; its last numbers are shown"))
        return former
    }
}
