import Foundation

extension SyncRateWindow {
    enum CodingKeys: String, CodingKey {
        case usedPercent, windowMinutes, resetsAt, resetDescription, label
    }

    /// Throws only when there is no readable `usedPercent`: without it there is no window.
    public init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: CodingKeys.self)
        guard let usedPercent = fields.number(.usedPercent) else {
            throw DecodingError.dataCorruptedError(
                forKey: .usedPercent, in: fields, debugDescription: "no readable number")
        }
        self.init(
            usedPercent: usedPercent,
            windowMinutes: fields.integer(.windowMinutes).flatMap { $0 > 0 ? $0 : nil },
            resetsAt: fields.date(.resetsAt),
            resetDescription: fields.text(.resetDescription),
            label: fields.text(.label))
    }
}
