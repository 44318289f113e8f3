import Essentials

/// Edits that leave all other bytes alone.
extension JSONOutline {
    func replacing(_ range: Range<Int>, with bytes: [UInt8]) -> Data {
        Data(self.bytes[..<range.lowerBound]) + Data(bytes) + Data(self.bytes[range.upperBound...])
    }

    /// Adds a member or an item after the last one of an object or array, in the layout of that one.
    func adding(to container: Node, _ part: (MemberLayout) -> [UInt8]) -> Data {
        let start = container.range.lowerBound + 1
        if let last = container.parts.last {
            let gap = bytes[..<last.lowerBound].reversed().prefix { Self.isSpace($0) }.reversed()
            return replacing(
                last.upperBound..<last.upperBound, with: [UInt8(ascii: ",")] + gap + part(MemberLayout(gap: gap)))
        }
        guard container.range == root.range, container.range.count == 2 else {
            // Spaces between the braces stay, so that it can be undone.
            return replacing(start..<start, with: part(MemberLayout(lineBreak: "", space: " ")))
        }
        let layout = MemberLayout(lineBreak: bytes.contains(UInt8(ascii: "\r")) ? "\r\n" : "\n", space: "  ")
        let gap = Array((layout.lineBreak + layout.space).utf8)
        return replacing(start..<start, with: gap + part(layout) + Array(layout.lineBreak.utf8))
    }

    /// Undoes `adding`, also when others were added after it since.
    func removing(_ index: Int, from container: Node) -> Data {
        let parts = container.parts
        if index > 0 { return replacing(parts[index - 1].upperBound..<parts[index].upperBound, with: []) }
        if parts.count > 1 { return replacing(parts[0].lowerBound..<parts[1].lowerBound, with: []) }
        let inside = container.range.lowerBound + 1..<container.range.upperBound - 1
        let before = bytes[inside.lowerBound..<parts[0].lowerBound]
        let after = bytes[parts[0].upperBound..<inside.upperBound]
        let isAddedToNothing = ["\n", "\r\n"].contains { lineBreak in
            before.elementsEqual((lineBreak + "  ").utf8) && after.elementsEqual(lineBreak.utf8)
        }
        return replacing(inside, with: isAddedToNothing ? [] : Array(before + after))
    }

    private static func isSpace(_ byte: UInt8) -> Bool { [0x20, 0x09, 0x0A, 0x0D].contains(byte) }
}
