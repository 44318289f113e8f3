/// One thing that can happen next in a world.
enum ModelStep: Sendable, Equatable {
    case device(Int, DeviceStep)
    /// The daemon takes the device's request in and answers it.
    case requestArrives(Int)
    case streamOpens(Int)
    /// The daemon puts the next change on the device's stream.
    case streamTells(Int)

    // Faults.

    /// The device sees its round trip fail; the request never arrived, or its answer is lost.
    case roundTripIsLost(Int)
    /// The device sees its round trip fail, and the request arrives at some time after all.
    case requestIsLate(Int)
    /// The request arrives, and at some time arrives again.
    case requestIsDoubled(Int)
    case strayArrives(Int)
    case streamBreaks(Int)
    /// The program is killed and started again; what it had sent is lost, or arrives some time.
    case crash(Int, requestSurvives: Bool)
    case tombstoneIsForgotten(key: Int)

    /// Whether the step belongs to the normal course of events and comes by itself.
    var isProgress: Bool {
        switch self {
        case .device(_, .write): false
        case .device, .requestArrives, .streamOpens, .streamTells, .strayArrives: true
        default: false
        }
    }
}

/// What makes a replica act.
enum DeviceStep: Sendable, Equatable {
    case write(key: Int, removes: Bool)
    case answerArrives
    case poll
    case wake
    case streamIsHeard
}
