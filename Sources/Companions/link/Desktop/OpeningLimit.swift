import Essentials
import LocalFiles

/// Ends the chains of an application that opens a link again for each link that it is given.
///
/// How many openings are inside of each other is counted in a variable of the environment. It allows a few: an
/// application that a link has started keeps the variable as long as it runs. For applications that clear the
/// environment, or that a desktop starts for others, all openings of the user in a short time are counted too; of them
/// nothing is kept but the times.
struct OpeningLimit {
    static let variable = "UBIQUITY_LINK_DEPTH"
    private static let depthLimit = 4
    private static let countLimit = 16
    private static let window: TimeInterval = 10
    private static let byteLimit = 4_096

    private let file: LocalFile
    private let depth: Int

    init(_ environment: [String: String] = ProcessInfo.processInfo.environment) {
        file = LocalFile(UserDirectories(environment: environment).state + "/link.openings")
        depth = environment[Self.variable].flatMap { Int($0) } ?? 0
    }

    /// Counts one more opening.
    ///
    /// - Returns: the value of the variable for what is started.
    func next(at now: Date = Date()) throws(LinkError) -> Int {
        guard (0..<Self.depthLimit).contains(depth) else { throw .openFailed(.chain) }
        var isAllowed = true
        // On a disk that is full, links are opened all the same.
        try? count(now, &isAllowed)
        guard isAllowed else { throw .openFailed(.chain) }
        return depth + 1
    }

    private func count(_ now: Date, _ isAllowed: inout Bool) throws(FileError) {
        try file.directory.create()
        let lock = try file.lock()
        defer { lock.unlock() }
        let text = try file.read(byteLimit: Self.byteLimit).map { String(decoding: $0.data, as: UTF8.self) }
        let recent = (text ?? "").split(separator: " ").compactMap { Double($0) }
            .filter { abs(now.timeIntervalSince1970 - $0) < Self.window }
        isAllowed = recent.count < Self.countLimit
        guard isAllowed else { return }
        let times = recent + [now.timeIntervalSince1970]
        try file.replace(with: Data(times.map { "\($0)" }.joined(separator: " ").utf8), durability: .cached)
    }
}
