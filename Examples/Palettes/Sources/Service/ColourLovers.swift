internal import Foundation

#if canImport(FoundationNetworking)
internal import FoundationNetworking
#endif

/// The requests that COLOURlovers supports.
enum ColourLovers {
    /// A page of the best palettes.
    case topPalettes
    /// One palette.
    case palette(id: String)

    /// The maximum number of palettes on a page of the service.
    static let largestPage = 100

    /// Returns the request for a page of any size; ``NetworkController`` sends as many HTTP requests as needed.
    ///
    /// - Parameters:
    ///   - offset: The number of palettes to skip.
    ///   - limit: The maximum number of palettes; 0 for all.
    func request(offset: Int, limit: Int) -> PaletteRequest {
        switch self {
        case .topPalettes: .page(offset: offset, limit: limit)
        case .palette(let id): .identifiers([id])
        }
    }

    /// Returns one HTTP request.
    ///
    /// - Parameters:
    ///   - offset: The number of palettes to skip.
    ///   - limit: The maximum number of palettes.
    ///   - baseURL: The base URL of the service.
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
