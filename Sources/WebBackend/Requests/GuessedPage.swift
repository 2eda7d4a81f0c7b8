internal import RemoteStore

/// A page that is requested although no answer has announced it, because the previous page may not be the last one.
enum GuessedPage: Equatable, Sendable {
    /// A page after a first page with fewer resources than requested. Their ``BackendAnswer/listSignature`` identifies them.
    case behindShortFirst(Int)
    /// A page after another page.
    case behindOthers

    /// Reads the text that ``text`` returns.
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

    /// Whether a bad request means that there is no such page.
    ///
    /// Some services allow access to only the first thousand resources, and refuse later ones as a bad request. A refusal is therefore the end of the
    /// list only after a short first page.
    var endsRefused: Bool { self != .behindOthers }

    /// Returns whether a status means that there is no such page.
    func isMissing(at status: Int) -> Bool {
        switch status {
        case 404, 410, 416: true
        case 400, 422: endsRefused
        default: false
        }
    }

    /// Returns whether an answer repeats the previous page, as services without pages do.
    ///
    /// After other pages, the service may not know the parameter, or may repeat its last page for all inaccessible ones. The rest cannot be read then,
    /// which the store detects.
    func isOver(at answer: BackendAnswer) -> Bool { answer.count > 0 && self == .behindShortFirst(answer.listSignature) }
}
