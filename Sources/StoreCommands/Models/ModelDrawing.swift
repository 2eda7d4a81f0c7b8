internal import Foundation
package import ObjectGraph

/// Draws a model as SVG: entities as boxes with their attributes, relationships as lines with crow's feet, inheritance as arrows to the superentity.
///
/// The colours follow the reader's light or dark appearance.
package struct ModelDrawing {
    private static let header = 30.0
    private static let row = 19.0
    private static let margin = 28.0
    /// The average width of a character in the body.
    private static let character = 6.7

    private var graph: ModelGraph
    /// The y of each line at the sides of its nodes, by the index of the line and of the node on its way.
    private var leaving: [[Double]] = []
    private var entering: [[Double]] = []
    /// The x of each line's vertical part after each column, by the index of the line and of the node on its way.
    private var tracks: [[Double]] = []
    private var trackCounts: [Int] = []
    private var labelWidths: [(before: Double, behind: Double)] = []

    package init(_ model: NSManagedObjectModel) {
        graph = ModelGraph(model, size: Self.size)
        measureGaps()
        // The tracks depend on the places of the nodes, but their number only on the lines.
        graph.place(gaps: { [trackCounts, labelWidths] in Self.gap($0, trackCounts, labelWidths) })
        attach()
        assignTracks()
    }

    // MARK: Sizes

    private static func attributes(_ entity: NSEntityDescription) -> [NSAttributeDescription] {
        ModelReport.own(entity).compactMap { $0 as? NSAttributeDescription }
    }

    private static func type(_ attribute: NSAttributeDescription) -> String {
        ModelReport.type(of: attribute) + (attribute.isOptional ? "?" : "")
    }

    private static func size(_ entity: NSEntityDescription) -> (Double, Double) {
        let attributes = attributes(entity)
        let name = Double(DisplayText.width(entity.name ?? "")) * 8.2 + 32
        let rows = attributes.map { Double(DisplayText.width($0.name) + DisplayText.width(type($0))) * character + 44 }
        let relationships = entity.properties.filter { $0.entity === entity && $0 is NSRelationshipDescription }.count
        let height = header + (attributes.isEmpty ? 0 : Double(attributes.count) * row + 12)
        // Each line needs a separate place at the side.
        return (max(120, name, rows.max() ?? 0).rounded(.up), max(height, Double(relationships) * 16 + 8))
    }

    private static func width(_ label: String?) -> Double { label.map { Double(DisplayText.width($0)) * 6 + 26 } ?? 22 }

    /// Measures the space between the columns: names of relationships at both sides, and vertical parts of lines between them.
    private mutating func measureGaps() {
        trackCounts = [Int](repeating: 0, count: graph.columns.count)
        labelWidths = [(Double, Double)](repeating: (22, 22), count: graph.columns.count)
        for edge in graph.edges {
            for place in 0..<(edge.nodes.count - 1) {
                let layer = graph.nodes[edge.nodes[place]].layer
                trackCounts[layer] += 1
                if place == 0 { labelWidths[layer].before = max(labelWidths[layer].before, Self.width(edge.ends?.0.name)) }
                if place == edge.nodes.count - 2 {
                    labelWidths[layer].behind = max(labelWidths[layer].behind, Self.width(edge.ends?.1.name))
                }
            }
        }
        for loop in graph.loops {
            let layer = graph.nodes[loop.node].layer
            labelWidths[layer].before = max(labelWidths[layer].before, 24 + Self.width(loop.ends.0.name))
        }
    }

    private static func gap(_ layer: Int, _ tracks: [Int], _ labels: [(before: Double, behind: Double)]) -> Double {
        labels[layer].before + labels[layer].behind + Double(min(tracks[layer], 24)) * 7 + 8
    }

    // MARK: Lines

    /// Gives each line a place at the sides of its nodes, in the order of its destination.
    private mutating func attach() {
        leaving = graph.edges.map { [Double](repeating: 0, count: $0.nodes.count) }
        entering = leaving
        var outgoing: [Int: [(edge: Int, place: Int, target: Double)]] = [:]
        var incoming = outgoing
        for (index, edge) in graph.edges.enumerated() {
            for place in 0..<(edge.nodes.count - 1) {
                let (left, right) = (edge.nodes[place], edge.nodes[place + 1])
                outgoing[left, default: []].append((index, place, graph.nodes[right].middle))
                incoming[right, default: []].append((index, place + 1, graph.nodes[left].middle))
            }
        }
        func spread(_ node: ModelGraph.Node, _ index: Int, _ count: Int) -> Double {
            node.y + node.height * Double(index + 1) / Double(count + 1)
        }
        for (node, lines) in outgoing {
            for (index, line) in lines.sorted(by: { ($0.target, $0.edge) < ($1.target, $1.edge) }).enumerated() {
                leaving[line.edge][line.place] = spread(graph.nodes[node], index, lines.count)
            }
        }
        for (node, lines) in incoming {
            for (index, line) in lines.sorted(by: { ($0.target, $0.edge) < ($1.target, $1.edge) }).enumerated() {
                entering[line.edge][line.place] = spread(graph.nodes[node], index, lines.count)
            }
        }
    }

    /// Gives the vertical part of each line a separate x, in an order that avoids crossings between lines from one side.
    private mutating func assignTracks() {
        tracks = graph.edges.map { [Double](repeating: 0, count: $0.nodes.count) }
        for (layer, column) in graph.columns.enumerated() {
            var lines: [(edge: Int, place: Int, from: Double, to: Double)] = []
            for (index, edge) in graph.edges.enumerated() {
                for place in 0..<(edge.nodes.count - 1) where graph.nodes[edge.nodes[place]].layer == layer {
                    lines.append((index, place, leaving[index][place], entering[index][place + 1]))
                }
            }
            guard let first = column.first else { continue }
            let start = graph.nodes[first].x + (column.map { graph.nodes[$0].width }.max() ?? 0) + labelWidths[layer].before
            let width = Self.gap(layer, trackCounts, labelWidths) - labelWidths[layer].before - labelWidths[layer].behind
            // Of descending lines the upper ones turn last, of ascending ones first.
            let down = lines.filter { $0.to >= $0.from }.sorted { $0.from > $1.from }
            let up = lines.filter { $0.to < $0.from }.sorted { $0.from < $1.from }
            for (index, line) in (down + up).enumerated() {
                tracks[line.edge][line.place] = start + width * (Double(index) + 0.5) / Double(lines.count)
            }
        }
    }

    // MARK: SVG

    /// Returns the picture.
    ///
    /// - Parameter isStandalone: Whether it contains its styles; otherwise the page must include ``style``.
    package func svg(isStandalone: Bool = true) -> String {
        let width = (graph.nodes.map { $0.x + $0.width }.max() ?? 0) + (graph.loops.isEmpty ? 0 : 90) + 2 * Self.margin
        let height = (graph.nodes.map { $0.y + $0.height }.max() ?? 0) + 2 * Self.margin
        var text = """
            <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \(number(width)) \(number(height))" width="\(number(width))" height="\(number(height))" role="img" aria-label="Diagram of a model">
            \(isStandalone ? "<style>\n\(Self.style)\n</style>\n" : "")<rect class="page" width="100%" height="100%"/>
            <g transform="translate(\(number(Self.margin)) \(number(Self.margin)))">

            """
        for index in graph.edges.indices { text += line(index) }
        for loop in graph.loops { text += self.loop(loop.node, loop.ends) }
        for node in graph.nodes { if let entity = node.entity { text += box(node, entity) } }
        return text + "</g>\n</svg>\n"
    }

    /// The styles of the picture.
    package static let style = """
        .page { fill: #ffffff; } .box { fill: #fbfbfd; stroke: #c4c9d4; } .head { fill: #e8eefc; } .abstract .head { fill: #eef0f3; }
        text { font: 12px -apple-system, "Segoe UI", "DejaVu Sans", sans-serif; fill: #1d2330; }
        .name { font-weight: 600; font-size: 13px; } .abstract .name { font-style: italic; } .type { fill: #6b7385; text-anchor: end; }
        .label { font-size: 10.5px; fill: #4a5570; } .end { text-anchor: end; }
        path { fill: none; stroke: #7a86a1; stroke-width: 1.3; stroke-linejoin: round; } path.head { stroke: none; } .parent { stroke: #b08a3c; } .arrow { fill: #ffffff; }
        @media (prefers-color-scheme: dark) {
        .page { fill: #14171d; } .box { fill: #1c2029; stroke: #3a4252; } .head { fill: #27334d; } .abstract .head { fill: #2a2e37; }
        text { fill: #e6e9f0; } .type { fill: #98a1b5; } .label { fill: #aeb8cf; } path { stroke: #8592b0; } .parent { stroke: #d0a95a; }
        .arrow { fill: #14171d; } }
        """

    private func number(_ value: Double) -> String {
        // Bounded: a place in a drawing.
        let tenths = Int((value * 10).rounded())
        return tenths % 10 == 0 ? "\(tenths / 10)" : "\(Double(tenths) / 10)"
    }

    private static func escaped(_ text: String) -> String {
        DisplayText.line(text).replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
            .replacing("\"", with: "&quot;")
    }

    private func box(_ node: ModelGraph.Node, _ entity: NSEntityDescription) -> String {
        let (x, y, width) = (number(node.x), number(node.y), number(node.width))
        let attributes = Self.attributes(entity)
        // Only the upper corners of the head are rounded.
        let head =
            "M\(x) \(number(node.y + Self.header))V\(number(node.y + 7))q0 -7 7 -7h\(number(node.width - 14))q7 0 7 7V\(number(node.y + Self.header))z"
        var text = "<g\(entity.isAbstract ? " class=\"abstract\"" : "") data-entity=\"\(Self.escaped(entity.name ?? ""))\">\n"
        let isBare = attributes.isEmpty && node.height <= Self.header
        text +=
            "<rect class=\"box\(isBare ? " head" : "")\" x=\"\(x)\" y=\"\(y)\" width=\"\(width)\" height=\"\(number(node.height))\" rx=\"7\"/>\n"
        if !isBare { text += "<path class=\"head\" d=\"\(head)\"/>\n" }
        text += "<text class=\"name\" x=\"\(number(node.x + 12))\" y=\"\(number(node.y + 20))\">\(Self.escaped(entity.name ?? ""))</text>\n"
        for (index, attribute) in attributes.enumerated() {
            let line = number(node.y + Self.header + 19 + Double(index) * Self.row)
            text += "<text x=\"\(number(node.x + 12))\" y=\"\(line)\">\(Self.escaped(attribute.name))</text>"
            text +=
                "<text class=\"type\" x=\"\(number(node.x + node.width - 12))\" y=\"\(line)\">\(Self.escaped(Self.type(attribute)))</text>\n"
        }
        return text + "</g>\n"
    }

    private func line(_ index: Int) -> String {
        let edge = graph.edges[index]
        guard let first = edge.nodes.first, let last = edge.nodes.last else { return "" }
        let start = (graph.nodes[first].x + graph.nodes[first].width, leaving[index][0])
        let end = (graph.nodes[last].x, entering[index][edge.nodes.count - 1])
        var path = "M\(number(start.0)) \(number(start.1))"
        for place in 0..<(edge.nodes.count - 1) {
            path += turn(leaving[index][place], tracks[index][place], entering[index][place + 1])
            if place < edge.nodes.count - 2 {
                path += "H\(number(graph.nodes[edge.nodes[place + 1]].x + graph.nodes[edge.nodes[place + 1]].width))"
            }
        }
        path += "H\(number(end.0))"
        guard let ends = edge.ends else {
            // The arrow is at the superentity.
            let (x, y, side) = edge.isReversed ? (end.0, end.1, -1.0) : (start.0, start.1, 1.0)
            let arrow = "M\(number(x)) \(number(y))l\(number(11 * side)) -6v12z"
            return "<path class=\"parent\" d=\"\(path)\"/>\n<path class=\"parent arrow\" d=\"\(arrow)\"/>\n"
        }
        // The sign at an entity shows its multiplicity, by the relationship at the other end.
        return "<path d=\"\(path)\"/>\n" + foot(start.0, start.1, 1, ends.1) + foot(end.0, end.1, -1, ends.0)
            + label(ends.0, start.0 + 17, start.1, "") + label(ends.1, end.0 - 17, end.1, " end")
    }

    /// Returns a horizontal line to an x, and a vertical one to a y, with rounded corners.
    private func turn(_ from: Double, _ x: Double, _ to: Double) -> String {
        // Bounded: a fraction, of which each has its opposite.
        let radius = min(6, abs(to - from) / 2)
        if radius < 0.5 { return "H\(number(x))V\(number(to))" }
        let way = to > from ? radius : -radius
        return
            "H\(number(x - radius))q\(number(radius)) 0 \(number(radius)) \(number(way))V\(number(to - way))q0 \(number(way)) \(number(radius)) \(number(way))"
    }

    /// Returns the sign at the end of a line: a crow's foot for many, a bar for one; empty if no relationship leads here.
    private func foot(_ x: Double, _ y: Double, _ side: Double, _ end: ModelGraph.End) -> String {
        if end.name == nil { return "" }
        let sign =
            end.isToMany
            ? "M\(number(x)) \(number(y - 6))L\(number(x + 11 * side)) \(number(y))L\(number(x)) \(number(y + 6))"
            : "M\(number(x + 7 * side)) \(number(y - 5))V\(number(y + 5))"
        return "<path d=\"\(sign)\"/>\n"
    }

    private func label(_ end: ModelGraph.End, _ x: Double, _ y: Double, _ style: String) -> String {
        guard let name = end.name else { return "" }
        let text = Self.escaped(name) + (end.isOrdered ? " ↕" : "")
        return "<text class=\"label\(style)\" x=\"\(number(x))\" y=\"\(number(y - 4))\">\(text)</text>\n"
    }

    private func loop(_ place: Int, _ ends: (ModelGraph.End, ModelGraph.End)) -> String {
        let node = graph.nodes[place]
        let (x, y) = (node.x + node.width, node.y + 8)
        let path = "M\(number(x)) \(number(y))h18q8 0 8 8v2q0 8 -8 8h-18"
        let names = [ends.0.name, ends.1.name].compactMap { $0 }.joined(separator: " / ")
        return "<path d=\"\(path)\"/>\n" + foot(x, y, 1, ends.1) + foot(x, y + 18, 1, ends.0)
            + "<text class=\"label\" x=\"\(number(x + 30))\" y=\"\(number(y + 12))\">\(Self.escaped(names))</text>\n"
    }
}
