extension ClipContents {
    /// What of an item is copied, since the tools offer one type at a time: files as a file manager offers them, else
    /// plain text, else an image, else HTML, else RTF.
    ///
    /// - Parameters:
    ///   - type: to copy this one; nil if the item has none of it.
    ///   - plain: without formatting: text before files.
    func representation(_ type: ContentType? = nil, plain: Bool = false) -> Part? {
        if let type { return parts.first { $0.type == type } }
        let order: [ContentType.Kind] =
            self[.files] != nil && !plain
            ? [.files, .text, .image, .html, .rtf] : [.text, .files, .image, .html, .rtf]
        return order.lazy.compactMap { kind in self.parts.first { $0.type.kind == kind } }.first
    }

    /// Text and files alone; if there is no text, everything.
    var withoutFormatting: ClipContents {
        guard self[.text] != nil else { return self }
        return ClipContents(parts.filter { $0.type.kind == .text || $0.type.kind == .files })
    }
}
