/// What a list says of an item. Not escaped.
struct ItemLabel: Equatable, Sendable {
    /// Whether the text is the title, in which a search finds something.
    let isTitle: Bool
    let text: String
    /// What else there is to know before it is selected.
    let note: String

    /// - Parameter isHere: whether this machine has the contents.
    init(of item: ClipItem, title: String, isHere: Bool) {
        let device = item.origin.device
        isTitle = !title.isEmpty
        if isTitle {
            text = title
            note = isHere ? "" : "on \(device) only"
        } else {
            text = Self.description(of: item) + " on \(device)" + (isHere ? "" : " only")
            note = ""
        }
    }

    /// What stands for an item without text: "image PNG 640×480, 12 KB".
    static func description(of item: ClipItem) -> String {
        let stub: ContentStub
        switch item.body {
        case .contents(let contents): stub = ContentStub(of: contents)
        case .stub(let given): stub = given
        }
        let size = byteCount(stub.byteCount)
        guard let image = stub.parts.first(where: { $0.type.kind == .image }) else {
            return stub.parts.map(\.type.rawValue).joined(separator: ", ") + ", \(size)"
        }
        let format = image.type.rawValue.split(separator: "/").last?.uppercased() ?? ""
        let dimensions = stub.imageSize.map { " \($0.width)×\($0.height)" } ?? ""
        return "image \(format)\(dimensions), \(size)"
    }

    static func byteCount(_ count: UInt64) -> String {
        switch count {
        case ..<1_000: "\(count) B"
        case ..<1_000_000: "\(count / 1_000) KB"
        default: "\(count / 1_000_000).\(count / 100_000 % 10) MB"
        }
    }
}
