// Search without a server: browsers start no worker from a file, so there it runs in a hidden frame instead.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      document.body.appendChild(frame);
      this.inside = frame.contentWindow;
      this.inside.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
      this.inside.importScripts = async (...urls) => {
        for (const each of urls) await this.load(each);
      };
      this.ready = this.load(url);
    }

    load(url) {
      return new Promise((loaded, failed) => {
        const script = this.inside.document.createElement("script");
        script.src = url;
        script.onload = loaded;
        script.onerror = failed;
        this.inside.document.body.appendChild(script);
      });
    }

    postMessage(data) {
      this.ready.then(() => this.inside.dispatchEvent(new MessageEvent("message", { data })));
    }

    terminate() {
      this.inside.frameElement.remove();
    }
  };
}
