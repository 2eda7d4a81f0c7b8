internal import Foundation

#if canImport(FoundationNetworking)
internal import FoundationNetworking
#endif

/// The questions that COLOURlovers answers.
enum ColourLovers {
    /// The best palettes, a page of them.
    case topPalettes
    /// One palette.
    case palette(id: String)

    /// The most palettes that the service puts on one page.
    static let largestPage = 100

    /// What to ask for a page of the answer, whatever its size; ``NetworkController`` sends as many HTTP requests as that takes.
    ///
    /// - Parameters:
    ///   - offset: how many palettes to leave out at the start.
    ///   - limit: how many to answer with at most; 0 for all.
    func request(offset: Int, limit: Int) -> PaletteRequest {
        switch self {
        case .topPalettes: .page(offset: offset, limit: limit)
        case .palette(let id): .identifiers([id])
        }
    }

    /// One HTTP request.
    ///
    /// - Parameters:
    ///   - offset: how many palettes to leave out at the start.
    ///   - limit: how many to answer with at most.
    ///   - baseURL: the address of the service.
    func urlRequest(offset: Int = 0, limit: Int = ColourLovers.largestPage, at baseURL: URL) -> URLRequest {
        var components = URLComponents(url: baseURL, resolvingAgainstBaseURL: false)
        components?.queryItems = [URLQueryItem(name: "format", value: "json"), URLQueryItem(name: "showPaletteWidths", value: "1")]
        let base = components?.path ?? ""
        switch self {
        case .topPalettes:
            components?.path = base + "/api/palettes/top"
            components?.queryItems?.append(URLQueryItem(name: "numResults", value: String(limit)))
            components?.queryItems?.append(URLQueryItem(name: "resultOffset", value: String(offset)))
        case .palette(let id):
            components?.path = base + "/api/palette/" + id
        }
        return URLRequest(url: components?.url ?? baseURL, cachePolicy: .reloadIgnoringLocalCacheData, timeoutInterval: 30)
    }
}
