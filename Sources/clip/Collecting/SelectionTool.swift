import ClipCore
import Essentials

/// A program that prints what the clipboard has: its types, or the data of one of them.
///
/// Types and data are several requests. Unless who uses it is notified of other owners, the types are asked for once more: when they
/// have changed, the offer is one that is not kept.
struct SelectionTool {
    private let path: String
    private let environment: [String: String]
    private let listing: [String]
    private let reading: @Sendable (_ name: String) -> [String]
    private let asksAgain: Bool

    private static let listByteLimit = SourceLimits.nameCount * 64

    /// Nil where it is not installed.
    static func xclip(
        _ environment: [String: String], asksAgain: Bool = true
    ) -> SelectionTool? {
        let options = ["-selection", "clipboard", "-o", "-t"]
        return SearchPath(environment).path(of: "xclip").map {
            SelectionTool(
                path: $0, environment: environment, listing: options + ["TARGETS"],
                reading: { options + [$0] }, asksAgain: asksAgain)
        }
    }

    static func wlPaste(_ environment: [String: String]) -> SelectionTool? {
        SearchPath(environment).path(of: "wl-paste").map {
            SelectionTool(
                path: $0, environment: environment, listing: ["--list-types"],
                reading: { ["--no-newline", "--type", $0] }, asksAgain: true)
        }
    }

    /// Nil if the clipboard is empty, or its owner does not answer in time.
    ///
    /// - Parameter choose: of the types that are offered, those that are read.
    func offer(
        _ choose: ([String]) throws -> [String], application: String? = nil
    ) rethrows -> Offer? {
        guard let names = names() else { return nil }
        var rest = SourceLimits.byteCount
        var data: [(name: String, data: Data)] = []
        let end = ContinuousClock.now + SourceLimits.copyTime
        for name in try choose(names) where .now < end {
            guard let part = run(reading(name), byteLimit: rest) else { continue }
            rest -= part.count
            data.append((name, part))
        }
        // Data of a type that is not in the list.
        guard data.isEmpty || !asksAgain || self.names() == names else {
            return Offer(typeNames: [], data: data)
        }
        return TypeChoice.offer(names, data, application: application)
    }

    /// Nil without any, or with more than a program that means well offers.
    private func names() -> [String]? {
        guard let output = run(listing, byteLimit: Self.listByteLimit) else { return nil }
        let names = String(decoding: output, as: UTF8.self).split(separator: "\n").map(String.init)
        return names.isEmpty || names.count > SourceLimits.nameCount ? nil : names
    }

    private func run(_ arguments: [String], byteLimit: Int) -> Data? {
        let run = ClipboardTool(
            path, arguments, environment: environment, outputByteLimit: byteLimit)
        return run.isSuccess ? run.output : nil
    }
}
