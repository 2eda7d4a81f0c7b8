import Foundation
import TestSupport
import Testing

@testable import WebBackend

@Suite("The header Link") struct LinkHeaderTests {
    @Test(
        "The next page is found however the header is written",
        arguments: [
            #"<http://h/items?page=2>; rel="next""#, #"<http://h/items?page=2> ; rel = "next""#, "<http://h/items?page=2>;rel=next",
            #"<http://h/items?page=9>; rel="next"; anchor="/other", <http://h/items?page=2>; rel="next""#,
            #"<http://h/items?page=0>; rel="prev"; rel="next", <http://h/items?page=2>; rel="next""#,
            #"<http://h/items?page=1>; rel="prev", <http://h/items?page=2>; title="a, <b>; rel=\"next\""; REL="last NEXT""#,
            #"<http://h/items?page=2>; crossorigin; rel=next, <http://h/items?page=7>; rel=last"#,
            #"<http://h/items?page=5,6>; rel="last", < http://h/items?page=2 >; rel="next""#,
        ])
    func next(_ header: String) { expect(LinkHeader.address("next", in: [header]), equals: "http://h/items?page=2") }

    @Test(
        "What is no relation of the answer itself is none",
        arguments: ["", "<a", "<a>", "<a>; rel=prev", "<a>; rel=\"", #"<a>; rel="next"; anchor="b""#])
    func none(_ header: String) { expect(LinkHeader.address("next", in: [header]), equals: nil) }

    @Test("Links that are written at random, with blanks, cases and quotation marks as they come, are read as they were meant")
    func random() {
        let seed = TestSeed.current(for: "Link headers")
        var random = SeededGenerator(seed: seed)
        func blank() -> String { ["", " ", "\t ", "  "].randomElement(using: &random)! }
        func token(_ text: String) -> String { random.chance(0.5) ? text : text.uppercased() }
        for _ in 0..<500 {
            var wanted: String?
            var links: [String] = []
            for number in 0..<(1 + random.below(4)) {
                let address = "http://h/\(number)?a=1,2;b=<".replacingOccurrences(of: "<", with: "%3C")
                let relation = ["next", "prev", "last", "item next"].randomElement(using: &random)!
                let hasAnchor = random.chance(0.2)
                if wanted == nil, !hasAnchor, relation.hasSuffix("next") { wanted = address }
                let isQuoted = relation.contains(" ") || random.chance(0.5)
                var parameters = ["\(token("rel"))\(blank())=\(blank())" + (isQuoted ? "\"\(token(relation))\"" : token(relation))]
                if hasAnchor { parameters.append("anchor=\"/other\"") }
                if random.chance(0.3) { parameters.insert(#"title="x; rel=\"next\", <y>""#, at: random.below(parameters.count + 1)) }
                if random.chance(0.3) { parameters.append("rel=\"next\"") }
                links.append("<\(address)>" + parameters.map { "\(blank());\(blank())\($0)" }.joined())
            }
            let header = links.joined(separator: "\(blank()),\(blank())")
            expect(LinkHeader.address("next", in: [header]), equals: wanted, "seed \(seed): \(header)")
        }
    }
}
