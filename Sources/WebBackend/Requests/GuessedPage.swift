internal import RemoteStore

/// A page that is asked for though nothing has told that there is one: the page before need not be the last.
enum GuessedPage: Equatable, Sendable {
    /// Behind a first page with fewer resources than were asked for, which are known by their ``BackendAnswer/listSignature``.
    case behindShortFirst(Int)
    /// Behind another page.
    case behindOthers

    /// Reads what ``text`` has written.
    init?(_ text: Substring) {
        if text.isEmpty { return nil }
        self = Int(text).map { .behindShortFirst($0) } ?? .behindOthers
    }

    var text: String {
        switch self {
        case .behindShortFirst(let signature): "\(signature)"
        case .behindOthers: "behind"
        }
    }

    /// Whether a bad request says that there is no such page.
    ///
    /// A service that lets only the first thousand be read refuses what is behind them as a bad request: only behind a first page that was short, such a
    /// refusal is the end.
    var endsRefused: Bool { self != .behindOthers }

    /// Returns whether a status says that there is no such page.
    func isMissing(at status: Int) -> Bool {
        switch status {
        case 404, 410, 416: true
        case 400, 422: endsRefused
        default: false
        }
    }

    /// Returns whether an answer is the page before once more, as services without pages give it.
    ///
    /// Behind other pages the service may not know the parameter, or give its last page for all that it does not let be read: then the rest cannot be read,
    /// which the store finds out.
    func isOver(at answer: BackendAnswer) -> Bool { answer.count > 0 && self == .behindShortFirst(answer.listSignature) }
}
