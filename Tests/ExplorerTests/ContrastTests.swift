import Foundation
import TestSupport
import Testing

/// Text stands out from what is behind it, as the Web Content Accessibility Guidelines ask (4.5 to 1).
@Suite("Colours of the explorer", .serialized, .enabled(if: BuiltTraits.hasCommand, "\(BuiltTraits.needsCommand)"))
struct ContrastTests {
    /// Returns the texts that one sees and cannot read well, each with its contrast.
    private static let faint = """
        const parse = (text) => { const parts = text.match(/[0-9.]+/g).map(Number); return parts.length > 3 ? parts : [...parts, 1]; };
        const over = (front, back) => [0, 1, 2].map((at) => front[at] * front[3] + back[at] * (1 - front[3])).concat(1);
        const light = (color) => {
          const [red, green, blue] = color.map((part) => part / 255).map((part) => part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
          return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
        };
        const contrast = (one, other) => {
          const [dark, bright] = [light(one), light(other)].sort((first, second) => first - second);
          return (bright + 0.05) / (dark + 0.05);
        };
        const behind = (element) => {
          const layers = [];
          for (let each = element; each; each = each.parentElement) {
            const color = parse(getComputedStyle(each).backgroundColor);
            if (color[3] > 0) layers.push(color);
            // The boxes of the diagram are shapes beside their texts.
            const box = each.matches("g[data-entity]") ? each.querySelector("rect") : null;
            if (box) layers.push(parse(getComputedStyle(box).fill));
          }
          return layers.reverse().reduce((back, front) => over(front, back), [255, 255, 255, 1]);
        };
        const found = [];
        for (const element of document.querySelectorAll("body *")) {
          const text = [...element.childNodes].filter((node) => node.nodeType === 3).map((node) => node.textContent.trim()).join("");
          if (!text || !element.checkVisibility({ checkOpacity: true, checkVisibilityCSS: true }) || element.closest(":disabled")) continue;
          const style = getComputedStyle(element);
          const isShape = element.namespaceURI.endsWith("svg");
          const color = parse(isShape ? style.fill : style.color);
          const back = behind(element);
          const ratio = contrast(over(color, back), back);
          if (ratio < 4.5) found.push(`${text.slice(0, 40)} (${element.localName}.${element.getAttribute("class") ?? ""}): ${ratio.toFixed(2)}`);
        }
        return found;
        """

    @Test("All text of all kinds of pages can be read, in light and in dark", arguments: [false, true]) func text(isDark: Bool) throws {
        let folder = try Folder()
        try Library.make(folder.store, tracked: true)
        let served = try ServedStore(folder.store, ["--writable"])
        let browser = try Browser(isDark: isDark)
        func check(_ page: String) throws {
            let faint = try browser.run(Self.faint) as? [String]
            expect(faint, equals: [], "\(page)")
            try browser.screenshot("\(page)-\(isDark ? "dark" : "light")")
        }
        try browser.open(served.address)
        try browser.wait(#"document.querySelector('.card [data-count="Album"]').textContent === "3""#)
        try check("home")
        try browser.click(".card", text: "Album")
        try browser.wait("document.querySelectorAll('.body .row .id a').length === 3")
        try check("table")
        try browser.click(".body .object", text: "Harmonia")
        try browser.wait("document.querySelector('h1').textContent === 'Harmonia'")
        try browser.click(".related .object", text: "Deluxe")
        try browser.wait("document.querySelector('h1').textContent === 'Deluxe' && document.querySelector('.picture').naturalWidth === 8")
        try check("object")
        try browser.click(".side a", text: "Model")
        try browser.wait("document.querySelectorAll('.diagram g[data-entity]').length === 3")
        try check("model")
        try browser.click(".side a", text: "History")
        try browser.wait(for: "4 Track added")
        try browser.click(".timeline summary")
        try browser.wait(for: "Walky-Talky")
        try check("history")
        withExtendedLifetime(folder) {}
    }
}
