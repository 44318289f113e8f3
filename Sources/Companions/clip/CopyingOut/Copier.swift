import Commands
import Essentials

/// Copies items of the history to a clipboard.
struct Copier {
    let store: HistoryStore
    let settings: ClipSettings
    let device: DeviceSettings
    var writer = ClipboardWriter()

    /// The contents of an item, wherever this machine has them.
    ///
    /// - Throws: for a stub of another machine.
    func contents(of key: ItemKey, _ item: ClipItem) throws -> ClipContents {
        if let contents = item.contents { return contents }
        if let contents = try ContentCache(store.files, device).contents(of: key) { return contents }
        if item.origin.device == store.files.environment.deviceName {
            throw CommandFailure(.unavailable, "its contents are no longer kept: they were too large for cacheSize")
        }
        throw CommandFailure(
            .unavailable, "its contents are on \(item.origin.device) only: they are too large to be shared")
    }

    /// Copies an item, which counts as one more copy of it.
    ///
    /// - Parameters:
    ///   - type: of the representation; nil for the one that suits most programs.
    ///   - isPlain: without formatting.
    ///   - target: nil for the first that applies here.
    /// - Returns: what to say of it: a terminal does not answer, so that "copied" may be too much.
    func copy(
        _ key: ItemKey, type: ContentType? = nil, isPlain: Bool = false, to target: CopyTarget? = nil
    ) throws -> String {
        let copyOut = try write(key, type, isPlain, target)
        let now = Timestamp.now
        try store.change(settings.limits) { history, state in
            state.lastCopy = now
            return (history.countCopy(of: key, on: store.files.environment.deviceName, at: now), ())
        }
        return copyOut.report
    }

    /// Puts an item into the clipboard without counting that as a copy.
    func place(_ key: ItemKey) throws { _ = try write(key, nil, false, nil) }

    private func write(_ key: ItemKey, _ type: ContentType?, _ isPlain: Bool, _ target: CopyTarget?) throws -> CopyOut {
        guard let item = store.entries()[key]?.item else {
            throw CommandFailure(.failure, "the item is no longer in the history")
        }
        var contents = try contents(of: key, item)
        if isPlain { contents = contents.withoutFormatting }
        let part = try contents.part(type, plain: isPlain, named: type?.rawValue ?? "type that can be copied")
        do {
            return try write(part, target)
        } catch CopyOut.Failure.notText where type == nil && part.type.kind != .image {
            return try write(.init(.text, ItemTitle.text(of: contents, limit: .max)), target)
        }
    }

    private func write(_ part: ClipContents.Part, _ target: CopyTarget?) throws -> CopyOut {
        // Before the collector sees it.
        try store.exclusively { _, state in state.copyOuts.remember(ItemKey(of: ClipContents([part])), at: .now) }
        return try writer.copy(part, to: target)
    }
}

extension ClipContents {
    /// The representation, or an error that names what there is.
    func part(_ type: ContentType?, plain: Bool, named name: String) throws(CommandFailure) -> Part {
        if let part = representation(type, plain: plain) { return part }
        throw CommandFailure(
            .failure, "it has no \(name); it has " + parts.map(\.type.rawValue).joined(separator: ", "))
    }
}
