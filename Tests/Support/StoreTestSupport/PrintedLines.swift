import Synchronization

/// What an example prints: a constant named `print` takes the function's place.
package final class PrintedLines: Sendable {
    private let all = Mutex<[String]>([])

    package init() {}

    package var lines: [String] { all.withLock { $0 } }

    package func callAsFunction(_ items: Any...) {
        let line = items.map { "\($0)" }.joined(separator: " ")
        all.withLock { $0.append(line) }
    }
}
