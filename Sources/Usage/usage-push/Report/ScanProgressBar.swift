import Commands
import Dispatch
import Essentials
import Synchronization

/// Shows on standard error, where that is a terminal, how far a scan is. Draws nothing in the first 0.3 seconds.
final class ScanProgressBar: Sendable {
    private let read = Atomic<Int>(0)
    private let total = Atomic<Int>(0)

    /// Safe to call from any thread.
    func update(_ read: Int, of total: Int) {
        self.read.store(read, ordering: .relaxed)
        self.total.store(total, ordering: .relaxed)
    }

    /// Runs `scan` with the bar beside it, and erases the bar.
    func show<Result>(while scan: () -> Result) -> Result {
        guard Console.isErrorTerminal, ProcessInfo.processInfo.environment["TERM"] != "dumb" else { return scan() }
        let isDrawn = Mutex(false)
        let queue = DispatchQueue(label: "progress")
        let timer = DispatchSource.makeTimerSource(queue: queue)
        timer.schedule(deadline: .now() + .milliseconds(300), repeating: .milliseconds(100))
        timer.setEventHandler { [self] in
            let total = total.load(ordering: .relaxed)
            guard total > 0 else { return }
            isDrawn.withLock { $0 = true }
            Console.note("\r" + Self.text(read: read.load(ordering: .relaxed), of: total) + "\u{1B}[K", terminator: "")
        }
        timer.activate()
        let result = scan()
        timer.cancel()
        queue.sync {}
        if isDrawn.withLock({ $0 }) { Console.note("\r\u{1B}[K", terminator: "") }
        return result
    }

    /// "reading ██████░░░░░░░░░░░░░░  31 % of 1.2 GB": at most 41 columns.
    static func text(read: Int, of total: Int) -> String {
        let share = total > 0 ? min(1, max(0, Double(read) / Double(total))) : 0
        let filled = Int(share * Double(width))
        let percent = String(Int(share * 100))
        return "reading " + String(repeating: "█", count: filled)
            + String(repeating: "░", count: width - filled)
            + String(repeating: " ", count: 4 - percent.count) + percent + " % of " + size(total)
    }

    private static let width = 20

    private static func size(_ byteCount: Int) -> String {
        var value = Double(byteCount)
        for unit in ["bytes", "kB", "MB"] {
            if value < 999.5 { return value.decimal(places: 0) + " " + unit }
            value /= 1_000
        }
        return value.decimal(places: 1) + " GB"
    }
}
