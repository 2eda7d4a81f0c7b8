import CoreData
import Foundation
import WebBackend
import WebTransport

/// Pages of JSON as services send them: texts of which some have escapes, numbers, dates, and a nested object.
struct ReleasePages {
    static let pageSize = 100
    let bodies: [[UInt8]]
    let count: Int

    init(count: Int) {
        self.count = count
        bodies = stride(from: 0, to: count, by: Self.pageSize).map { start in
            let end = min(start + Self.pageSize, count)
            let items = (start..<end).map(Self.item).joined(separator: ",")
            let next = end < count ? "\"/releases?page=\(end / Self.pageSize)\"" : "null"
            return Array(#"{"count":\#(count),"next":\#(next),"results":[\#(items)]}"#.utf8)
        }
    }

    private static func item(_ number: Int) -> String {
        let title = number % 8 == 0 ? #"Nightjar \"Live\" \u00e9t\u00e9 \#(number)"# : "A quiet day by the river \(number)"
        let day = 1 + number % 28
        return
            #"{"id":\#(number),"title":"\#(title)","notes":"Recorded in one room, mixed in another, and pressed on \#(number % 5) sides.","rating":\#(Double(number % 50) / 10),"price":\#(number % 40).\#(10 + number % 90),"released":"20\#(10 + number % 16)-0\#(1 + number % 9)-\#(day < 10 ? "0" : "")\#(day)T12:30:\#(10 + number % 50)Z","plays":\#(number * 37),"is_live":\#(number % 3 == 0),"band":{"id":\#(number % 200),"name":"Band \#(number % 200)"},"tags":["a","b"]}"#
    }

    // MARK: By hand

    struct Page: Decodable {
        let count: Int
        let next: String?
        let results: [Release]
    }

    struct Release: Decodable {
        struct Band: Decodable {
            let id: Int
            let name: String
        }
        let id: Int
        let title: String
        let notes: String
        let rating: Double
        let price: Double
        let released: Date
        let plays: Int
        let is_live: Bool
        let band: Band
    }

    static func decoder() -> JSONDecoder {
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .iso8601
        return decoder
    }

    // MARK: As a description

    static let model: NSManagedObjectModel = {
        let release = NSEntityDescription(name: "Release")
        let band = NSEntityDescription(name: "Band")
        let releases = NSRelationshipDescription(name: "releases", destination: release, toMany: true)
        let owner = NSRelationshipDescription(name: "band", destination: band)
        releases.inverse(to: owner)
        release.properties = [
            NSAttributeDescription(name: "title", type: .string), NSAttributeDescription(name: "notes", type: .string),
            NSAttributeDescription(name: "rating", type: .double), NSAttributeDescription(name: "price", type: .double),
            NSAttributeDescription(name: "released", type: .date), NSAttributeDescription(name: "plays", type: .integer64),
            NSAttributeDescription(name: "isLive", type: .boolean), owner,
        ]
        band.properties = [NSAttributeDescription(name: "name", type: .string), releases]
        return NSManagedObjectModel(entities: [release, band])
    }()

    static func service(_ address: String) -> WebService {
        var style = ServiceStyle.plain
        style.names = .snakeCase
        style.envelope = Envelope(items: "results")
        style.paging = .following(.body("next"), of: pageSize, total: .body("count"))
        return WebService(
            address, style: style,
            resources: [
                WebResource("Release", properties: ["band": PropertyMapping(reference: .object(id: "id"))], isReadOnly: true),
                WebResource("Band", isReadOnly: true),
            ])
    }
}

/// A transport that has the pages in memory.
struct CannedPages: Transport {
    let bodies: [[UInt8]]

    func send(_ request: WebRequest, limits: TransportLimits) async throws -> WebResponse {
        let page = request.url.split(separator: "=").last.flatMap { Int($0) } ?? 0
        return WebResponse(status: 200, headers: ["Content-Type": "application/json"], body: bodies[page])
    }
}
