import Commands
import Essentials

/// A program that prints what the clipboard has: its types, or the data of one of them.
///
/// Types and data are several requests. Unless who uses it is notified of other owners, the types are asked for once
/// more: when they have changed, the offer is one that is not kept.
struct SelectionTool {
    private let path: String
    private let environment: [String: String]
    private let listing: [String]
    private let reading: @Sendable (_ name: String) -> [String]
    private let asksAgain: Bool

    private static let listByteLimit = SourceLimits.nameCount * 64

    /// Nil where it is not installed.
    static func xclip(_ environment: [String: String], asksAgain: Bool = true) -> SelectionTool? {
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

    /// Nil if the clipboard has no owner, or that offers nothing.
    ///
    /// - Parameter choose: of the types that are offered, those that are read.
    /// - Throws: `SourceError` when the display is gone, and what `choose` throws.
    func offer(_ choose: ([String]) throws -> [String], application: String? = nil) throws -> Offer? {
        let listed = run(listing, byteLimit: Self.listByteLimit)
        if listed.complaint.lowercased().contains("open display") { throw SourceError("the display cannot be opened") }
        let names = Self.names(listed)
        if let unread = Self.unread(listed, names.count) {
            return Offer(typeNames: [], data: [], application: application, unread: [unread])
        }
        guard !names.isEmpty else { return nil }
        let (data, unread) = SourceLimits.read(try choose(names)) { name, byteLimit in
            let part = run(reading(name), byteLimit: byteLimit)
            if part.isSuccess { return .success(part.output) }
            return .failure(part.end == .tooMuchOutput ? .tooLarge : .notAnswered)
        }
        // Data of a type that is not in the list.
        guard
            data.isEmpty || !asksAgain || Self.names(run(listing, byteLimit: Self.listByteLimit)) == names
        else { return Offer(typeNames: [], data: data) }
        return Offer(typeNames: names, read: data, application: application, unread: unread)
    }

    private static func names(_ run: BoundedProcess) -> [String] {
        guard run.isSuccess else { return [] }
        return String(decoding: run.output, as: UTF8.self).split(separator: "\n").map(String.init)
    }

    /// Why a list of types is none. A program that means well offers fewer than the limit.
    private static func unread(_ run: BoundedProcess, _ count: Int) -> Offer.Unread? {
        switch run.end {
        case .outOfTime: .notAnswered
        case .tooMuchOutput: .tooLarge
        case .exited, .cancelled, .notStarted: count > SourceLimits.nameCount ? .tooLarge : nil
        }
    }

    private func run(_ arguments: [String], byteLimit: Int) -> BoundedProcess {
        BoundedProcess(clipboard: path, arguments, environment: environment, outputByteCount: byteLimit)
    }
}
